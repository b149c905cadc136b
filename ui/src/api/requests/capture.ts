import type { CaptureState } from '../../../../engine/features/record/schema.ts';
import { call, failure, send } from '../call.ts';

export type { CaptureState };

/** Whether requests are recorded right now. */
export const readCapture = (signal?: AbortSignal): Promise<CaptureState> => call('/api/capture', { signal });

/** Switches the recording of requests. It is off after each start. */
export const switchCapture = (on: boolean): Promise<CaptureState> =>
  call('/api/capture', { method: 'POST', body: { on } });

/** The capture of a request as a file. */
export const exportCapture = async (id: string, redact: boolean): Promise<Blob> => {
  const response = await send(`/api/requests/${encodeURIComponent(id)}/capture`, { query: { redact: String(redact) } });
  if (!response.ok) throw await failure(response);
  return response.blob();
};

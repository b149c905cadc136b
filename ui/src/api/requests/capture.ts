import type { CaptureState } from '../../../../engine/features/record/schema.ts';
import { call } from '../call.ts';

export type { CaptureState };

/** Whether requests are recorded right now. */
export const readCapture = (signal?: AbortSignal): Promise<CaptureState> => call('/api/capture', { signal });

/** Switches the recording of requests. It is off after each start. */
export const switchCapture = (on: boolean): Promise<CaptureState> =>
  call('/api/capture', { method: 'POST', body: { on } });

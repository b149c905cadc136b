import { call } from './call.ts';

/** Whether requests are recorded on their way, and what that takes. */
export interface CaptureState {
  readonly on: boolean;
  /** Requests that are kept. */
  readonly kept: number;
  /** Memory that they take. */
  readonly bytes: number;
  /** The last so many are kept. */
  readonly most: number;
  /** No more is kept of one. */
  readonly mostBytes: number;
}

/** Whether requests are recorded right now. */
export const readCapture = (signal?: AbortSignal): Promise<CaptureState> => call('/api/capture', { signal });

/** Switches the recording of requests. It is off after each start. */
export const switchCapture = (on: boolean): Promise<CaptureState> =>
  call('/api/capture', { method: 'POST', body: { on } });

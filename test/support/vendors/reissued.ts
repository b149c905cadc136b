import type { Vendor } from './vendor.ts';

/** The same vendor with a payload of its own, as another server of the same models has: neither takes the other's. */
export const reissued = <Body>(vendor: Vendor<Body>, payload: string): Vendor<Body> => ({
  ...vendor,
  complaint(body, url) {
    const text = JSON.stringify(body);
    if (text.includes(vendor.payload)) return 'the payload is of another server';
    return vendor.complaint(JSON.parse(text.replaceAll(payload, vendor.payload)) as Body, url);
  },
  answer(body, url, script) {
    const answer = vendor.answer(body, url, script);
    const own = (text: string): string => text.replaceAll(vendor.payload, payload);
    return answer.type === 'json'
      ? { type: 'json', text: own(answer.text) }
      : { type: 'stream', pieces: answer.pieces.map(own) };
  },
  payload,
});

import type { Vendor, VendorAnswer } from './vendor.ts';

/** Another account of a vendor, or another server that speaks like it: it has a seal of its own, and refuses the vendor's. */
export const otherAccount = <Body>(vendor: Vendor<Body>, seal: string): Vendor<Body> => {
  const toVendor = (body: Body): Body => {
    const text = JSON.stringify(body)
      .replaceAll(vendor.payload, 'the-seal-of-another-account')
      .replaceAll(seal, vendor.payload);
    // The same body, but for the seals in it.
    return JSON.parse(text) as Body;
  };
  const fromVendor = (answer: VendorAnswer): VendorAnswer => {
    const resealed = (text: string): string => text.replaceAll(vendor.payload, seal);
    return answer.type === 'json'
      ? { type: 'json', text: resealed(answer.text) }
      : { type: 'stream', pieces: [resealed(answer.pieces.join(''))] };
  };
  return {
    ...vendor,
    complaint: (body, url) => vendor.complaint(toVendor(body), url),
    answer: (body, url) => fromVendor(vendor.answer(toVendor(body), url)),
    payload: seal,
  };
};

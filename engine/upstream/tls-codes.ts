/** Whether an error's code says that TLS failed. Source: Node.js documentation, "X509 certificate error codes". */
export const isTlsCode = (code: string): boolean =>
  certificateCodes.has(code) || code === 'EPROTO' || /^ERR_(SSL|TLS|OSSL)_/.test(code);

/** What such a code means. */
export const tlsWords = (code: string): string =>
  certificateCodes.has(code) || code === 'ERR_TLS_CERT_ALTNAME_INVALID'
    ? `its TLS certificate can't be trusted (${code})`
    : `the TLS handshake failed (${code})`;

const certificateCodes: ReadonlySet<string> = new Set([
  'CERT_CHAIN_TOO_LONG',
  'CERT_HAS_EXPIRED',
  'CERT_NOT_YET_VALID',
  'CERT_REJECTED',
  'CERT_REVOKED',
  'CERT_SIGNATURE_FAILURE',
  'CERT_UNTRUSTED',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'ERROR_IN_CERT_NOT_AFTER_FIELD',
  'ERROR_IN_CERT_NOT_BEFORE_FIELD',
  'HOSTNAME_MISMATCH',
  'INVALID_CA',
  'INVALID_PURPOSE',
  'PATH_LENGTH_EXCEEDED',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_DECODE_ISSUER_PUBLIC_KEY',
  'UNABLE_TO_DECRYPT_CERT_SIGNATURE',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
]);

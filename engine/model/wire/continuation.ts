/**
 * What the user says after an answer that has begun, for models that only reply to the user. It asks for no more than the client did: to
 * go on.
 */
export const continuation = 'Continue.';

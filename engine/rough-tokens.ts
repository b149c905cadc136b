import type { ModelRequest, Part } from './model/request.ts';

/** Characters of a request's JSON per token, as a rule of thumb. */
const charactersPerToken = 4;
/** What vendors charge for an image of middling size. */
const tokensPerImage = 1_500;

/**
 * A prompt's tokens, guessed from the length of its body without reading the text. Good enough for the provisional number at
 * the start of a stream; nothing is decided by it.
 */
export const roughTokens = (request: ModelRequest, bodyCharacters: number): number => {
  let binary = 0;
  let images = 0;
  const visit = (part: Part): void => {
    if (part.type === 'tool-result') part.content.forEach(visit);
    if ((part.type === 'image' || part.type === 'document') && part.source.kind === 'base64') {
      binary += part.source.data.length;
      images += 1;
    }
  };
  for (const turn of request.turns) turn.parts.forEach(visit);
  return Math.ceil((bodyCharacters - binary) / charactersPerToken) + images * tokensPerImage;
};

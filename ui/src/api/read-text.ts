/** One piece of a streamed answer, and when it came: milliseconds since the request was sent. */
interface TextPiece {
  readonly atMs: number;
  readonly text: string;
}

/** Hands over a body's text as it comes; characters that are cut in two come whole. Throws when the stream breaks off. */
export const readText = async (
  body: ReadableStream<Uint8Array>,
  sentAtMs: number,
  take: (piece: TextPiece) => void,
): Promise<void> => {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  for (;;) {
    const { done, value } = await reader.read();
    const text = done ? decoder.decode() : decoder.decode(value, { stream: true });
    if (text !== '') take({ atMs: performance.now() - sentAtMs, text });
    if (done) return;
  }
};

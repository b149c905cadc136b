/** A Chat Completions stream of one text, a record per piece; a pause after each keeps network chunks apart. */
export const chatStream = function* (texts: readonly string[], pauseMs = 5): Iterable<string | number> {
  for (const content of texts) {
    yield record({ choices: [{ index: 0, delta: { content }, finish_reason: null }] });
    yield pauseMs;
  }
  yield record({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] });
  yield 'data: [DONE]\n\n';
};

const record = (more: object): string =>
  `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm', ...more })}\n\n`;

/** The same as a whole reply. */
export const chatReply = (text: string): object => ({
  id: 'c',
  object: 'chat.completion',
  created: 1,
  model: 'm',
  choices: [{ index: 0, message: { role: 'assistant', content: text }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
});

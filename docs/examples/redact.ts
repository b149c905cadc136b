import { type ModelRequest, rx, transformer } from 'junctor/transformer';

type Part = ModelRequest['system'][number];
const redact = (part: Part): Part => ({ ...part, text: part.text.replaceAll(/\b\d{16}\b/g, '[card]') });

export default transformer({
  name: 'redact',
  operators: () => ({
    request: rx.map((request: ModelRequest) => ({ ...request, system: request.system.map(redact) })),
  }),
});

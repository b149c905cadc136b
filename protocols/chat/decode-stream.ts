import { isDeltaAlone } from '../../engine/model/delta-alone.ts';
import type { ModelEvent } from '../../engine/model/event.ts';
import { isJsonObject, parseJson } from '../../engine/model/json.ts';
import { machine } from '../../engine/model/machine.ts';
import type { SseRecord } from '../../engine/model/protocol.ts';
import { reader } from '../../engine/model/schema.ts';
import { type Answer, failAnswer, newAnswer } from './answer.ts';
import { decodeReported, reportedError } from './decode-fault.ts';
import { endAnswer, readChunk } from './read-chunk.ts';
import { Chunk } from './schema-reply.ts';

const chunkReader = reader(Chunk);

/**
 * `chat.completion.chunk` records → events. Usage follows the finish reason, so `message-stop` waits for `[DONE]` or the end;
 * an end without a finish reason is a cut. Source: OpenAI API reference, "Chat streaming", and recordings of look-alikes.
 */
export const decodeStream = machine<Answer, SseRecord, ModelEvent>({
  initial: newAnswer,
  step(answer, { event, data }, out) {
    if (answer.done || data === '') return;
    if (data.length < 16 && data.trim() === '[DONE]') return endAnswer(answer, out);
    const known = event === '' ? answer.alike.read(data) : undefined;
    if (known) return readChunk(answer, known, out);
    const record = parseJson(data);
    if (event === 'error')
      return failAnswer(answer, decodeReported(isJsonObject(record) ? (record.error ?? record) : data), out);
    const error = isJsonObject(record) ? reportedError(record) : undefined;
    if (error !== undefined) return failAnswer(answer, decodeReported(error), out);
    if (isJsonObject(record) && chunkReader.matches(record)) {
      const before = out.length;
      readChunk(answer, record, out);
      if (isDeltaAlone(out, before)) answer.alike.learn(data, record);
      return;
    }
    const first = chunkReader.faults(record)[0];
    const what =
      record === undefined ? 'it is not JSON' : `${first?.path ?? ''} ${first?.message ?? 'is invalid'}`.trim();
    failAnswer(
      answer,
      { kind: 'upstream-garbled', message: `The upstream sent a chunk that can't be read: ${what}.` },
      out,
    );
  },
  end: endAnswer,
});

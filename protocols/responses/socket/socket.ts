import type { ReplyContext } from '../../../engine/model/context.ts';
import type { ModelEvent } from '../../../engine/model/event.ts';
import { FaultError } from '../../../engine/model/fault.ts';
import { isJsonObject, parseJson } from '../../../engine/model/json/json.ts';
import { Losses } from '../../../engine/model/loss.ts';
import { runWhole } from '../../../engine/model/machine.ts';
import type { SocketFaults, SocketProtocol } from '../../../engine/model/wire/socket-protocol.ts';
import { ToolNames } from '../../../engine/model/wire/tool-names.ts';
import { decodePartialRequest } from '../decode-request/decode-request.ts';
import { encodeStream } from '../encode-reply/encode-stream.ts';
import { AnswerReader } from './answer-reader.ts';
import { connectionOverCode } from './codes.ts';
import { readSocketMessage } from './read-message.ts';

/** Source: OpenAI guide, "WebSocket mode", "Errors". */
const faults: SocketFaults = {
  binary: { kind: 'invalid-request', message: 'The message is binary: send JSON as text.' },
  connectionOver: {
    kind: 'invalid-request',
    code: connectionOverCode,
    message: 'This connection takes no more requests: open another one, and send the whole input.',
  },
  tooManyStreams: {
    kind: 'invalid-request',
    code: 'websocket_stream_limit_reached',
    param: 'stream_id',
    message: 'This connection has had 32 stream ids: use one of them, or open another connection.',
  },
  tooManyWaiting: {
    kind: 'rate-limited',
    message: 'Too many requests wait on this connection: send more once they are answered.',
    headers: { 'retry-after': '1' },
  },
  unknownAnswer: (id) => ({
    kind: 'invalid-request',
    code: unknownCode,
    param: previousMember,
    message: `Previous response with id '${id.slice(0, 100)}' not found.`,
  }),
};

const unknownCode = 'previous_response_not_found';
const previousMember = 'previous_response_id';

/** Responses over a WebSocket. Source: OpenAI guide, "WebSocket mode". */
export const responsesSocket: SocketProtocol = {
  limits: { streams: 32, answers: 16, waiting: 64, lifetimeMs: 60 * 60_000 },
  read: readSocketMessage,
  faults,
  encodeError({ status, body, headers }, stream) {
    const error = isJsonObject(body.error) ? body.error : body;
    // No provider has the answer, whatever the reason: the client has to send the conversation.
    const known = status === 400 && error.param === previousMember ? { ...error, code: unknownCode } : error;
    return JSON.stringify({ type: 'error', status, ...(stream && { stream_id: stream }), error: known, headers });
  },
  answerWarmUp(body, id, startedAtMs) {
    const clientBody = parseJson(body.toString());
    if (!isJsonObject(clientBody)) {
      throw new FaultError({ kind: 'invalid-request', message: 'The message is not valid JSON.' });
    }
    const request = decodePartialRequest(clientBody);
    const context: ReplyContext = {
      id,
      startedAtMs,
      nowMs: () => startedAtMs,
      request,
      clientBody,
      model: request.model,
      names: new ToolNames(),
      losses: new Losses('responses'),
      inputEstimate: 0,
    };
    const events: readonly ModelEvent[] = [
      { type: 'message-start', id: '', model: request.model },
      { type: 'message-stop', finish: 'end', usage: {} },
    ];
    return runWhole(encodeStream, context, events);
  },
  inStream(data, stream) {
    if (stream === '') return data;
    const first = `{"stream_id":${JSON.stringify(stream)},`;
    return typeof data === 'string' ? first + data.slice(1) : Buffer.concat([Buffer.from(first), data.subarray(1)]);
  },
  keepAlive: '{"type":"codex.keepalive"}',
  readAnswer: (mayHold) => new AnswerReader(mayHold),
};

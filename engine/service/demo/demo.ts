import { Buffer } from 'node:buffer';
import { randomBytes } from 'node:crypto';
import type { Observable } from 'rxjs';
import { chatClient } from '../../../protocols/chat/index.ts';
import { bodyText } from '../../model/call-body.ts';
import type { ReplyContext } from '../../model/context.ts';
import { FaultError, fail } from '../../model/fault.ts';
import { isJsonObject, type JsonObject, parseJson } from '../../model/json/json.ts';
import { Losses } from '../../model/loss.ts';
import { runWhole } from '../../model/machine.ts';
import { foldReply, isFault } from '../../model/reply.ts';
import { sseText } from '../../model/wire/sse.ts';
import { ToolNames } from '../../model/wire/tool-names.ts';
import { playRecording, type RecordedAnswer } from '../../upstream/play-recording.ts';
import type { UpstreamAnswer, UpstreamCall } from '../../upstream/upstreams.ts';
import { answerDemo } from './answer.ts';

/** The pause between two records of a stream, in milliseconds. */
const paceMs = 15;

/**
 * Answers a call to the embedded provider, which is used when no other is configured. It speaks Chat Completions, needs no key and
 * opens no connection.
 */
export const callDemo = (call: UpstreamCall): Observable<UpstreamAnswer> =>
  playRecording(recordingFor(call), 1).call(call);

const recordingFor = ({ body }: UpstreamCall): RecordedAnswer => {
  const id = randomBytes(12).toString('hex');
  try {
    const clientBody = parseJson(bodyText(body));
    if (!isJsonObject(clientBody)) return fail('invalid-request', "The body isn't a JSON object.");
    const request = chatClient.decodeRequest(clientBody, { chatStrict: false });
    const context: ReplyContext = {
      id,
      startedAtMs: Date.now(),
      nowMs: Date.now,
      request,
      clientBody,
      model: request.model,
      names: new ToolNames(),
      losses: new Losses('demo'),
      inputEstimate: 0,
    };
    const events = answerDemo(request, id);
    if (request.stream)
      return recording(
        200,
        'text/event-stream; charset=utf-8',
        runWhole(chatClient.encodeStream, context, events).map((record) => sseText([record])),
      );
    const reply = foldReply(events);
    if (isFault(reply)) throw new FaultError(reply);
    return whole(200, chatClient.encodeReply(reply, context));
  } catch (error) {
    if (!(error instanceof FaultError)) throw error;
    const refusal = chatClient.encodeFault(error.fault, id);
    return whole(refusal.status, refusal.body);
  }
};

const whole = (status: number, body: JsonObject): RecordedAnswer =>
  recording(status, 'application/json', [JSON.stringify(body)]);

const recording = (status: number, contentType: string, texts: readonly string[]): RecordedAnswer => ({
  status,
  headers: { 'content-type': contentType },
  headMs: 0,
  chunks: texts.map((text, index) => ({ atMs: index * paceMs, bytes: Buffer.from(text) })),
  fault: undefined,
});

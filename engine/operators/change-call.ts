import { bodyFaults, headerFault } from '../config/sections/call-extras.ts';
import type { Ready, Reconciled } from '../exchange.ts';
import { bodyText } from '../model/call-body.ts';
import { stageFault, Unusable } from '../model/fault.ts';
import { isJsonObject, type JsonObject, parseJson, writeJson } from '../model/json/json.ts';
import { applyPatches } from '../model/json/merge-patch.ts';
import type { ModelRequest } from '../model/request.ts';
import type { CallChanges, ProviderCall } from '../model/transformer.ts';
import { isSecretParameter } from '../observe/log/mask-text.ts';
import type { Graph } from '../routing/plan/build-graph.ts';
import { inStep, stageStep } from '../runtime/loop-watch.ts';
import { isFailure, isLeftOut, leaveOut, mayBeLeftOut } from './skip-stage.ts';
import { stageContext } from './stage-context.ts';
import type { StageGateway } from './stage-parts.ts';

type SentCall = Ready['call'];

/** Applies the stages' call halves to the call, in list order. Throws `stage-failed`, with the stage's name, if one fails. */
export const changeCall = (routed: Reconciled, call: SentCall, gateway: StageGateway): SentCall =>
  routed.plan.graph.callStages.reduce((sent, node) => changedBy(node, sent, routed, gateway), call);

const changedBy = (
  node: Graph['callStages'][number],
  call: SentCall,
  routed: Reconciled,
  gateway: StageGateway,
): SentCall => {
  const { name, work } = node;
  if (isLeftOut(routed, node)) return call;
  const since = routed.context.losses.size;
  const seen = new SeenCall(call, routed.request);
  try {
    const changes = inStep(stageStep(name), () =>
      work.custom ? work.run(seen, stageContext(routed, node, gateway)) : work.run(seen),
    );
    const { headers, body } = checked(changes);
    return {
      url: call.url,
      headers: headers ? withHeaders(call.headers, headers) : call.headers,
      body: body ? writeJson(applyPatches({ ...seen.body }, [body])) : call.body,
    };
  } catch (error) {
    const failure = stageFault(name, 'failed on the call', error);
    if (!mayBeLeftOut(node) || !isFailure(failure)) throw failure;
    leaveOut(routed, node, failure, since);
    return call;
  }
};

/** The call as a stage sees it. The body is parsed only for stages that read or change it. */
class SeenCall implements ProviderCall {
  readonly headers: Readonly<Record<string, string>>;
  readonly request: ModelRequest;
  readonly #sent: SentCall;
  #body: JsonObject | undefined;

  constructor(sent: SentCall, request: ModelRequest) {
    this.headers = Object.fromEntries(Object.entries(sent.headers).filter(([name]) => !isSecretParameter(name)));
    this.request = request;
    this.#sent = sent;
  }

  get body(): JsonObject {
    if (this.#body === undefined) {
      const parsed = parseJson(bodyText(this.#sent.body));
      this.#body = isJsonObject(parsed) ? parsed : {};
    }
    return this.#body;
  }
}

/** Checks a stage's changes: a custom module may return anything. */
const checked = (changes: CallChanges | undefined): CallChanges => {
  if (changes === undefined) return {};
  if (!isJsonObject(changes) || changes instanceof Promise)
    throw new Unusable('it returned something other than changes');
  const unknown = Object.keys(changes).find((member) => member !== 'headers' && member !== 'body');
  if (unknown !== undefined) throw new Unusable(`it gave "${unknown}", and only headers and body can be changed`);
  const { headers = {}, body = {} } = changes;
  if (!isJsonObject(headers)) throw new Unusable('its headers must be an object');
  for (const [name, value] of Object.entries(headers)) {
    if (typeof value !== 'string' && value !== null) throw new Unusable(`headers.${name} must be a string or null`);
    const fault = headerFault(name, value ?? '');
    if (fault !== undefined) throw new Unusable(`headers.${name} ${fault}`);
  }
  if (!isJsonObject(body)) throw new Unusable('its body must be an object');
  for (const [member, fault] of bodyFaults(body)) throw new Unusable(`body.${member} ${fault}`);
  return changes;
};

/** Header names are case-insensitive. */
const withHeaders = (
  headers: Readonly<Record<string, string>>,
  changes: Readonly<Record<string, string | null>>,
): Readonly<Record<string, string>> => {
  const changed: Record<string, string> = { ...headers };
  for (const [name, value] of Object.entries(changes)) {
    if (value === null) delete changed[name.toLowerCase()];
    else changed[name.toLowerCase()] = value;
  }
  return changed;
};

import { firstValueFrom, map, mergeMap, type Observable, takeWhile, throwError, timeout, toArray } from 'rxjs';
import Type from 'typebox';
import { isLoopback } from '../../config/sections/service-settings.ts';
import { maxAnswer, type OtherNodes } from '../../feature.ts';
import type { Fleet, FleetMember } from '../../hub/fleet.ts';
import type { Sealer } from '../../hub/seal.ts';
import { fail } from '../../model/fault.ts';
import { parseJson } from '../../model/json/json.ts';
import { reader } from '../../model/schema.ts';
import { Backpressure } from '../../runtime/backpressure.ts';
import { createUpstreams } from '../../upstream/create-upstreams.ts';
import type { Upstreams } from '../../upstream/upstreams.ts';
import { fleetAnswersPath } from './routes.ts';

/*
 * Machines of a fleet read each other's requests and usage over HTTP, when a view of them is opened. A question and its answers are
 * sealed with the fleet's key, which is what proves that the other end belongs to the fleet. The store holds none of it.
 */

const sealedQuestion = reader(Type.Object({ atMs: Type.Number(), question: Type.Unknown() }));
const sealedAnswers = reader(Type.Array(Type.String({ maxLength: maxAnswer })));

/** A question that is older or newer, in milliseconds, isn't answered: an eavesdropper may have repeated it. */
const validMs = 30_000;
const maxNodes = 50;
const timeoutMs = 1_000;

/** Limits of the connections for one question. They use no proxy: nodes of a fleet reach each other directly. */
const bounds = {
  connectMs: timeoutMs,
  firstByteMs: timeoutMs,
  idleMs: timeoutMs,
  callMs: 0,
  connectionsPerProvider: 1,
  queuePerProvider: 1,
  queueMs: timeoutMs,
  decompressedReplyBytes: maxAnswer,
  environment: {},
};

const questionName = 'question of the fleet';
/** Binds the answers to their question. */
const answersName = (sealed: string): string => `answers to ${sealed}`;

/** Opens what a node sealed, by whichever key came first there. */
const openSealed = (sealer: Sealer, name: string, value: string): string | undefined => {
  for (const { open } of sealer.lookups(name)) {
    const text = open(value);
    if (text !== undefined) return text;
  }
  return undefined;
};

type Address = Pick<FleetMember, 'machine' | 'address'>;

/** Several nodes may have one host name, and several the same loopback address. */
const idOf = ({ machine, address }: Address): string => `${machine} ${address}`;

const otherNodes = (members: readonly FleetMember[]): readonly Address[] => {
  const own = members.find(({ isThis }) => isThis);
  const others = members.filter((member) => !member.isStranger && (!own || idOf(member) !== idOf(own)));
  return [...new Map(others.map((member) => [idOf(member), member])).values()];
};

/** Whether this node can reach another: a loopback address of another node is this one's own. */
const isReachable = ({ machine, address }: Address, ownNode: string): boolean =>
  URL.canParse(address) && (machine === ownNode || !isLoopback(new URL(address).hostname));

export const openNodes = (
  { members, machine: ownNode, sealer }: Pick<Fleet, 'members' | 'machine' | 'sealer'>,
  nowMs: () => number,
): OtherNodes => {
  const askOne = async (
    upstreams: Pick<Upstreams, 'call'>,
    { address }: Address,
    question: object,
  ): Promise<readonly string[] | undefined> => {
    const { value: sealed } = sealer.seal(questionName, JSON.stringify({ atMs: nowMs(), question }));
    const url = new URL(`${fleetAnswersPath}?${new URLSearchParams({ question: sealed })}`, address);
    const text = await read(upstreams, url).catch(() => undefined);
    const answers = text === undefined ? undefined : parseJson(openSealed(sealer, answersName(sealed), text) ?? '');
    return sealedAnswers.matches(answers) ? answers : undefined;
  };
  const ask: OtherNodes['ask'] = async (questionOf) => {
    const others = otherNodes(members());
    const reachable = others.filter((one) => isReachable(one, ownNode)).slice(0, maxNodes);
    const upstreams = createUpstreams(bounds);
    const answered = await Promise.all(
      reachable.map(async (one) => {
        const id = idOf(one);
        return { id, machine: one.machine, answers: await askOne(upstreams, one, questionOf(id)) };
      }),
    );
    void upstreams.close();
    const heard = answered.filter(({ answers }) => answers !== undefined).length;
    return {
      heard: { known: others.length + 1, heard: heard + 1 },
      answers: answered.flatMap(({ id, machine, answers = [] }) => answers.map((text) => ({ id, machine, text }))),
    };
  };
  return {
    isShared: () => otherNodes(members()).length > 0,
    ask,
  };
};

/** The body of an answer with status 200. Rejects for others, and if it takes too long. */
const read = (upstreams: Pick<Upstreams, 'call'>, url: URL): Promise<string> =>
  firstValueFrom(
    upstreams.call({ method: 'GET', url, headers: {}, body: '', backpressure: new Backpressure() }).pipe(
      mergeMap(({ status, body }) => (status === 200 ? textOf(body) : throwError(() => new Error(`status ${status}`)))),
      timeout(timeoutMs),
    ),
  );

const textOf = (body: Observable<Uint8Array>): Observable<string> => {
  let length = 0;
  return body.pipe(
    takeWhile((chunk) => {
      length += chunk.length;
      return length <= maxAnswer;
    }),
    toArray(),
    map((chunks) => Buffer.concat(chunks).toString()),
  );
};

/** Answers a sealed question of another node by a sealed answer. Throws a fault for questions that aren't the fleet's. */
export const answerNode = async (
  sealer: Sealer,
  nowMs: number,
  sealed: string,
  answersTo: (asked: unknown) => Promise<readonly string[] | undefined>,
): Promise<string> => {
  const asked = parseJson(openSealed(sealer, questionName, sealed) ?? '');
  if (!sealedQuestion.matches(asked)) return notOfFleet();
  if (Math.abs(nowMs - asked.atMs) > validMs)
    return fail('unauthorized', "question is too old or too new: the machines' clocks must agree (NTP).");
  const answers = await answersTo(asked.question);
  return answers ? sealer.seal(answersName(sealed), JSON.stringify(answers)).value : notOfFleet();
};

const notOfFleet = (): never =>
  fail('unauthorized', "question must be sealed with the fleet's key: FLEET.key and the version must agree.");

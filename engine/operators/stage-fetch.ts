import { firstValueFrom, mergeMap, Observable, timeout } from 'rxjs';
import type { Fetched, FetchOptions } from '../config/custom/around.ts';
import { FaultError, quoted } from '../model/fault.ts';
import { Backpressure } from '../runtime/backpressure.ts';
import { collectBytes } from './rx/stages.ts';
import { limitOf, type StageGateway, type StageLife, type StageOf } from './stage-parts.ts';
import { stageFailure } from './stage-questions.ts';

const usualMaxBytes = 1 << 20;

/**
 * A stage's call to a service that isn't a model, over the gateway's own connections. Rejects with a `stage-failed` fault that names the
 * service without its query, which may hold a key.
 */
export const fetchForStage = async (
  { gateway, stage, life }: { readonly gateway: StageGateway; readonly stage: StageOf; readonly life: StageLife },
  address: string,
  { method, headers = {}, body = '', limitMs = limitOf(stage, gateway), maxBytes = usualMaxBytes }: FetchOptions = {},
): Promise<Fetched> => {
  const url = URL.canParse(address) ? new URL(address) : undefined;
  const place = `fetch(${quoted(url ? url.origin + url.pathname : '…')})`;
  const failed = (what: string, cause?: unknown) => stageFailure(stage.name, place, what, cause);
  if (!url || !/^https?:$/.test(url.protocol)) throw failed('the address is not an http or https URL');
  const call = gateway.upstreams.call({
    method: method ?? (body === '' ? 'GET' : 'POST'),
    url: new URL(url.origin + url.pathname + url.search),
    headers: { 'user-agent': 'junctor', accept: '*/*', ...credentialsOf(url), ...lowerCase(headers) },
    body,
    backpressure: new Backpressure(),
  });
  const fetched = call.pipe(
    mergeMap(({ status, headers: answered, body: bytes }) =>
      bytes.pipe(
        collectBytes(
          (whole): Fetched => {
            if (whole.length > maxBytes) throw failed(`the answer has more than ${maxBytes} bytes`);
            return { status, headers: answered, text: new TextDecoder().decode(whole) };
          },
          { maxBytes: maxBytes + 1 },
        ),
      ),
    ),
    timeout({
      first: limitMs,
      with: () => {
        throw failed(`there was no whole answer within ${limitMs} ms`);
      },
    }),
  );
  try {
    return await firstValueFrom(whileAlive(life, fetched, () => failed('the request was over')));
  } catch (error) {
    if (error instanceof FaultError && error.fault.kind !== 'stage-failed') {
      throw failed(error.fault.message.replace(/\.$/, ''), error);
    }
    throw error;
  }
};

/** The user and password of a URL. */
const credentialsOf = ({ username, password }: URL): Readonly<Record<string, string>> =>
  username === '' && password === ''
    ? {}
    : {
        authorization: `Basic ${Buffer.from(`${decodeURIComponent(username)}:${decodeURIComponent(password)}`).toString('base64')}`,
      };

const lowerCase = (headers: Readonly<Record<string, string>>): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));

/** Fails once the stage's work is over, so that what awaits it ends, too. */
const whileAlive = <T>(life: StageLife, source: Observable<T>, over: () => Error): Observable<T> =>
  new Observable((subscriber) => {
    const end = (): void => subscriber.error(over());
    if (life.isOver) {
      end();
      return;
    }
    life.whenOver(end);
    subscriber.add(source.subscribe(subscriber));
  });

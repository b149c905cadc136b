import { useCallback, useEffect, useRef, useState } from 'react';
import { isAbort, wordError } from '../../api/api-error.ts';
import { type Explanation, explain } from '../../api/config/explain.ts';
import { type JsonObject, parseObject } from '../../api/json.ts';
import type { Protocol } from '../../api/protocols.ts';
import { type RequestSummary, readRequest } from '../../api/requests/requests.ts';
import { destinationsOf } from '../../config/destinations.ts';
import { useForm } from '../../config/fields/form.ts';
import { type Sample, sampleBody } from './samples.ts';
import { useRoutingConfig } from './use-routing-config.ts';

/** What is tried: a sample, or the last request that was captured. */
export type TrialSource = Sample['name'] | 'captured';

/** What came of it. */
interface Outcome {
  readonly explanation?: Explanation;
  readonly error?: string;
}

/** How long the draft rests before it is tried again, in milliseconds. */
const pauseMs = 300;

/** A dry run that takes so long is given up, in milliseconds. */
const longestMs = 5_000;

/** Tries a request by the draft, again after each change of it, once it was tried. */
export const useTrial = (preset: string | undefined, requests: readonly RequestSummary[]) => {
  const { dirty, inherited } = useForm();
  const config = useRoutingConfig();
  const [{ value: destination } = { value: 'provider,model' }] = destinationsOf(config);
  const textOf = (client: Protocol, name: Sample['name']): string =>
    JSON.stringify(sampleBody(client, name, destination), null, 2);
  const [protocol, setProtocol] = useState<Protocol>('messages');
  const [source, setSource] = useState<TrialSource>('plain');
  const [text, setText] = useState(() => textOf(protocol, 'plain'));
  const [outcome, setOutcome] = useState<Outcome>();
  const [busy, setBusy] = useState(false);
  const isTried = outcome !== undefined;
  const leaving = useRef<AbortController>(undefined);
  useEffect(() => () => leaving.current?.abort(), []);

  const ask = async (client: Protocol, body: JsonObject | undefined): Promise<void> => {
    leaving.current?.abort();
    if (!body) {
      setOutcome({ error: 'The body is not a valid JSON object yet. The editor marks the error.' });
      return;
    }
    const own = new AbortController();
    leaving.current = own;
    setBusy(true);
    const late = window.setTimeout(() => own.abort('late'), longestMs);
    try {
      const isDraft = dirty || inherited !== undefined;
      setOutcome({
        explanation: await explain(
          { client, body, preset, stages: true, ...(isDraft && { configuration: config }) },
          own.signal,
        ),
      });
    } catch (error) {
      if (!isAbort(error) && own.signal.reason !== 'late') setOutcome({ error: wordError(error) });
      else if (own.signal.reason === 'late')
        setOutcome({ error: `The gateway has not answered within ${longestMs / 1_000} s. Try again.` });
      else return;
    } finally {
      window.clearTimeout(late);
    }
    setBusy(false);
  };
  const latest = useRef(ask);
  latest.current = ask;
  // biome-ignore lint/correctness/useExhaustiveDependencies: a change of the draft or the body is tried, not of what came of it
  useEffect(() => {
    if (!isTried) return undefined;
    const timer = window.setTimeout(() => void latest.current(protocol, parseObject(text)), pauseMs);
    return () => window.clearTimeout(timer);
  }, [config, text, protocol]);

  const take = (client: Protocol, name: Sample['name']): void => {
    setProtocol(client);
    setSource(name);
    setText(textOf(client, name));
  };
  const takeCaptured = useCallback(async (): Promise<void> => {
    setSource('captured');
    try {
      const found = await lastCaptured(requests);
      if (!found) {
        setOutcome({ error: noCapture });
        return;
      }
      setProtocol(found.client);
      setText(JSON.stringify(found.body, null, 2));
      await latest.current(found.client, found.body);
    } catch (error) {
      setOutcome({ error: wordError(error) });
    }
  }, [requests]);
  return {
    protocol,
    source,
    text,
    busy,
    outcome,
    setText,
    setProtocol: (client: Protocol): void => take(client, source === 'captured' ? 'plain' : source),
    /** Takes a sample, and tries it. */
    pick: (next: TrialSource): void => {
      if (next === 'captured') {
        void takeCaptured();
        return;
      }
      take(protocol, next);
      void ask(protocol, sampleBody(protocol, next, destination));
    },
    takeCaptured: (): void => void takeCaptured(),
    run: (): void => void ask(protocol, parseObject(text)),
    /** Forgets what came of it. */
    clear: (): void => setOutcome(undefined),
  };
};

export type Trial = ReturnType<typeof useTrial>;

const noCapture =
  'No request is captured whole yet. Switch capturing on in Requests, or send one from the Playground, and try again.';

/** So many captures are looked at: of failures, the body may be cut. */
const mostLooked = 5;

/** The last request whose body was captured whole. */
const lastCaptured = async (
  requests: readonly RequestSummary[],
): Promise<{ readonly client: Protocol; readonly body: JsonObject } | undefined> => {
  for (const { id } of requests.filter(({ captured }) => captured).slice(0, mostLooked)) {
    const { summary, capture } = await readRequest(id);
    const body = capture && !capture.client.truncated ? parseObject(capture.client.body) : undefined;
    if (body) return { client: summary.protocol, body };
  }
  return undefined;
};

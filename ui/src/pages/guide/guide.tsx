import { type ReactNode, useCallback, useState } from 'react';
import { call } from '../../api/call.ts';
import type { ConfigFile } from '../../api/config/config.ts';
import { saveConfig, useConfig } from '../../api/config/config-store.ts';
import { hasFailed } from '../../api/requests/summary.ts';
import { useRecentRequests } from '../../api/requests/use-recent-requests.ts';
import { useAttempt } from '../../api/use-attempt.ts';
import { useLoad } from '../../api/use-load.ts';
import { modelNames } from '../../config/models.ts';
import { routedName, routeOf, rules, withRoute } from '../../config/rules.ts';
import { isDemo } from '../../config/spelling.ts';
import { Button } from '../../parts/controls/button.tsx';
import { Notice } from '../../parts/layout/notice.tsx';
import { Dot } from '../../parts/text/badge.tsx';
import { href } from '../../router/route.ts';
import './guide.css';

/** How often the service is asked for the first answer, in milliseconds. */
const askEveryMs = 3_000;

/** What the guide's own request says. */
const question = 'Say hello, and name yourself in one sentence.';

/**
 * Leads from nothing to the first answer of a provider of one's own. What is done is read from the configuration and the history: it is
 * the same in each browser. Nothing once there was such an answer; with `isPage`, also then.
 */
export const Guide = ({ isPage = false }: { readonly isPage?: boolean }) => {
  const { config } = useConfig();
  const recent = useRecentRequests('feed').data?.requests ?? none;
  const own = config ? ownProviders(config) : none;
  const names = own.join('\n');
  const isSeen = recent.some((one) => own.includes(one.provider ?? '') && !hasFailed(one));
  const kept = useLoad(
    useCallback((signal: AbortSignal) => hasAnswered(names, signal), [names]),
    askEveryMs,
    names !== '' && !isSeen,
  );
  const isUnsure = names !== '' && !isSeen && kept.data === undefined && kept.error === undefined;
  if (!config || isUnsure) return null;
  const isAnswered = isSeen || kept.data === true;
  const to = defaultOf(config);
  const leads = own.some((name) => to.startsWith(`${name},`)) || isPool(config, to);
  if (isAnswered && leads && !isPage) return null;
  const steps: readonly Step[] = [
    {
      title: 'A provider of your own',
      isDone: own.length > 0,
      about: own.length > 0 ? own.join(', ') : 'A vendor and its key, or a server.',
      next: (
        <a className="button button-primary" href={`${href('/providers')}?add=yes`}>
          Add a provider
        </a>
      ),
    },
    {
      title: 'Make it the default',
      isDone: leads,
      about: to === '' ? 'Where requests go that match no rule.' : `Requests go to ${to}.`,
      next: <MakeDefault config={config} own={own} />,
    },
    {
      title: 'Get the first answer',
      isDone: isAnswered,
      about: (
        <>
          Or <a href={href('/clients')}>connect a tool</a>: its first request counts as well.
        </>
      ),
      next: <FirstRequest />,
    },
  ];
  const current = steps.findIndex(({ isDone }) => !isDone);
  const last = steps.length - 1;
  return (
    <section className="guide" aria-label="Getting started">
      <h2>{current < 0 ? 'All set: your requests are answered' : 'Getting started'}</h2>
      <ol className="row">
        {steps.map(({ title, isDone, about, next }, at) => (
          <li key={title} className="row" aria-current={at === current ? 'step' : undefined}>
            <span className="row">
              <Dot tone={isDone ? 'ok' : at === current ? 'accent' : 'plain'} title={isDone ? 'done' : 'to do'} />
              <span className={at === current ? undefined : 'soft'}>{title}</span>
            </span>
            {at === (current < 0 ? last : current) && (
              <>
                {next}
                <span className="soft small">{about}</span>
              </>
            )}
          </li>
        ))}
      </ol>
      {kept.error !== undefined && <p className="soft small">The history is not readable: {kept.error}</p>}
    </section>
  );
};

interface Step {
  readonly title: string;
  readonly isDone: boolean;
  readonly about: ReactNode;
  /** How to do it; shown for the step that is next, and at the end for the last one, which has the answer. */
  readonly next: ReactNode;
}

const none: readonly never[] = [];

const MakeDefault = ({ config, own }: { readonly config: ConfigFile; readonly own: readonly string[] }) => {
  const { busy, error, run } = useAttempt();
  const provider = (config.Providers ?? []).findLast(({ name = '' }) => own.includes(name));
  const [model] = provider ? modelNames(provider) : [];
  const [byDefault] = rules;
  if (!provider || model === undefined || !byDefault) return <a href={href('/routing')}>Choose it in Routing</a>;
  const destination = `${provider.name ?? ''},${model}`;
  return (
    <>
      <Button
        look="primary"
        busy={busy}
        onClick={() => run(async () => void (await saveConfig((before) => withRoute(before, byDefault, destination))))}
      >
        Use {destination}
      </Button>
      {error !== undefined && <Notice kind="failed">{error}</Notice>}
    </>
  );
};

const FirstRequest = () => {
  const { busy, error, run } = useAttempt();
  const recent = useRecentRequests('feed');
  const [answer, setAnswer] = useState<string>();
  const send = (): void =>
    run(async () => {
      const body = { model: routedName, max_tokens: 256, messages: [{ role: 'user', content: question }] };
      const { content = [] } = await call<{ readonly content?: readonly { readonly text?: string }[] }>(
        '/v1/messages',
        {
          method: 'POST',
          body,
        },
      );
      setAnswer(content.map(({ text = '' }) => text).join('') || 'It answered without text.');
      recent.reload();
    });
  return (
    <>
      <Button look="primary" icon="play" busy={busy} onClick={send}>
        Ask it something
      </Button>
      {answer !== undefined && <p>{answer}</p>}
      {error !== undefined && (
        <Notice kind="failed" title="It did not answer">
          {error}
        </Notice>
      )}
    </>
  );
};

/** Names of all providers but the built-in demo. */
const ownProviders = ({ Providers = [] }: ConfigFile): readonly string[] =>
  Providers.flatMap((one) => (one.name && !isDemo(one) ? [one.name] : []));

const defaultOf = (config: ConfigFile): string => {
  const [byDefault] = rules;
  return byDefault ? routeOf(config, byDefault) : '';
};

const isPool = ({ Pools = [] }: ConfigFile, name: string): boolean => Pools.some((pool) => pool.name === name);

/** Whether one of these providers has answered, as far as the history goes. */
const hasAnswered = async (names: string, signal: AbortSignal): Promise<boolean> => {
  for (const provider of names.split('\n')) {
    const { requests } = await call<{ readonly requests: readonly unknown[] }>('/api/history', {
      query: { provider, status: 'ok', limit: 1 },
      signal,
    });
    if (requests.length > 0) return true;
  }
  return false;
};

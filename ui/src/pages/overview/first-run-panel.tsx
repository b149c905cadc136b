import { type ReactNode, useEffect } from 'react';
import type { ConfigFile } from '../../api/config/config.ts';
import { useConfig } from '../../api/config/config-store.ts';
import { hasFailed, type RequestSummary } from '../../api/requests/requests.ts';
import { routeOf, rules } from '../../config/rules.ts';
import { isDemo } from '../../config/spelling.ts';
import { timeOfDay } from '../../format/time.ts';
import { Button } from '../../parts/controls/button.tsx';
import { Panel } from '../../parts/layout/panel.tsx';
import { Lamp } from '../../parts/text/badge.tsx';
import { href } from '../../router/route.ts';
import { firstRun, noteFirstRun } from '../../state/first-run.ts';
import { useStore } from '../../state/store.ts';
import './first-run-panel.css';

/** Leads from an empty gateway to the first request of a tool. Shown once, until it is complete or closed. */
export const FirstRunPanel = ({ requests }: { readonly requests: readonly RequestSummary[] }) => {
  const { config } = useConfig();
  const { started, tested, closed } = useStore(firstRun);
  const isFresh = config !== undefined && ownProviders(config).length === 0;
  useEffect(() => {
    if (isFresh) noteFirstRun('started');
  }, [isFresh]);
  if (!config || closed || !(started || isFresh)) return null;
  const own = ownProviders(config);
  const first = requests.findLast((one) => own.includes(one.provider ?? '') && !hasFailed(one));
  const steps: readonly Step[] = [
    {
      title: 'Add a provider',
      done: own.length > 0,
      about: own.length > 0 ? own.join(', ') : 'The built-in demo answers until then.',
      next: <a href={href('/providers')}>Go to Providers</a>,
    },
    {
      title: 'Test the connection',
      done: tested || first !== undefined,
      about: 'One small request shows that its address, key and model work.',
      next: <a href={href('/providers')}>Open the provider and test it</a>,
    },
    {
      title: 'Make it the default',
      done: own.some((name) => defaultOf(config).startsWith(`${name},`)) || isPool(config, defaultOf(config)),
      about:
        own.length > 0
          ? `Requests go to ${defaultOf(config) || 'no model yet'}.`
          : 'Where requests go that match no rule.',
      next: <a href={href('/providers')}>Choose it on Providers</a>,
    },
    {
      title: 'Connect a tool',
      done: first !== undefined,
      about: 'An agent, an editor or an SDK: copy its settings.',
      next: <a href={href('/clients')}>Go to Connect</a>,
    },
    {
      title: first ? 'Your first request came' : 'Send the first request',
      done: first !== undefined,
      about: first ? (
        <>
          <a href={href('/requests', first.id)}>{timeOfDay(first.startedAt)}</a>, answered by {first.provider},
          {first.model}.
        </>
      ) : (
        'It appears here as soon as it comes.'
      ),
      next: (
        <Lamp tone="accent" pulse>
          waiting
        </Lamp>
      ),
    },
  ];
  const next = steps.findIndex(({ done }) => !done);
  return (
    <Panel
      title="Getting started"
      about={next < 0 ? 'All set: the gateway serves your requests.' : `Step ${next + 1} of ${steps.length}`}
      actions={
        <Button look={next < 0 ? 'primary' : 'quiet'} onClick={() => noteFirstRun('closed')}>
          {next < 0 ? 'Done' : 'Hide'}
        </Button>
      }
    >
      <ol className="first-run" aria-label="Steps">
        {steps.map(({ title, done, about, next: way }, index) => (
          <li key={title} className="first-run-step" aria-current={index === next ? 'step' : undefined}>
            <Lamp tone={done ? 'ok' : index === next ? 'accent' : 'plain'}>
              <strong>{title}</strong>
              {done && <span className="unseen"> (done)</span>}
            </Lamp>
            <p className="soft small">{about}</p>
            {index === next && <p className="small">{way}</p>}
          </li>
        ))}
      </ol>
    </Panel>
  );
};

interface Step {
  readonly title: string;
  readonly done: boolean;
  readonly about: ReactNode;
  /** How to do it; shown for the step that is next. */
  readonly next: ReactNode;
}

/** Names of all providers but the built-in demo. */
const ownProviders = ({ Providers = [] }: ConfigFile): readonly string[] =>
  Providers.flatMap((one) => (one.name && !isDemo(one) ? [one.name] : []));

const defaultOf = (config: ConfigFile): string => {
  const [byDefault] = rules;
  return byDefault ? routeOf(config, byDefault) : '';
};

const isPool = ({ Pools = [] }: ConfigFile, name: string): boolean => Pools.some((pool) => pool.name === name);

import type { ReactNode } from 'react';
import { protocolTitles } from '../../api/protocols.ts';
import type { Capture, RequestSummary, Usage } from '../../api/requests/requests.ts';
import { count, counted, dayAndTime, duration, usd } from '../../format/figures.ts';
import { CopyButton } from '../../parts/controls/button.tsx';
import { Badge } from '../../parts/text/badge.tsx';
import { listAddress } from '../requests/request-address.ts';
import { StageCalls } from './stage-calls.tsx';
import { StepsView } from './steps-view.tsx';
import { TimingBar } from './timing-bar.tsx';

/** The way of a request: its attempts, where the time went, what each step changed, and all that is known besides. */
export const PathView = ({
  summary,
  capture,
}: {
  readonly summary: RequestSummary;
  readonly capture: Capture | null;
}) => (
  <>
    <Attempts summary={summary} />
    <StageCalls summary={summary} />
    {capture && <TimingBar timing={capture.timing} />}
    <Losses summary={summary} />
    {capture && !capture.unasked && <StepsView capture={capture} />}
    {capture?.unasked && (
      <p className="soft small">
        Captured because the request failed or lost fields: without stages. Capture requests to see what each changed.
      </p>
    )}
    <Facts summary={summary} />
  </>
);

const Attempts = ({
  summary: { failedAttempts = [], provider, model, status, reason },
}: {
  readonly summary: RequestSummary;
}) => (
  <section className="stack-tight" aria-label="Attempts">
    {reason !== undefined && <p>{reason}</p>}
    {failedAttempts.length > 0 && (
      <ol className="attempts" aria-label="Failed attempts">
        {failedAttempts.map((attempt, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: the same call may be made twice; the list never changes
          <li key={index}>
            {attempt.provider}, {attempt.model}: <span className="path-failed">{attempt.outcome}</span>
          </li>
        ))}
        {provider !== undefined && (
          <li>
            {provider}, {model}: {status}
          </li>
        )}
      </ol>
    )}
  </section>
);

const Losses = ({ summary: { losses, lossesOmitted = 0 } }: { readonly summary: RequestSummary }) =>
  losses.length > 0 && (
    <section className="stack-tight" aria-label="Losses">
      <h3>{counted(losses.length + lossesOmitted, 'field')} lost in conversion</h3>
      <ul className="stack-tight">
        {losses.map(({ step, field, action, note }) => (
          <li key={`${step} ${field} ${action}`}>
            <code>{field}</code> <Badge tone="warn">{action}</Badge>{' '}
            <span className="soft small">
              by {step}
              {note && `: ${note}`}
            </span>
          </li>
        ))}
        {lossesOmitted > 0 && <li>and {counted(lossesOmitted, 'more field')}</li>}
      </ul>
    </section>
  );

const Facts = ({ summary }: { readonly summary: RequestSummary }) => {
  const { id, protocol, path, preset, client, machine, session, asked, stream, provider, model } = summary;
  const { usage, cost, startedAt, firstByteMs, durationMs, overheadMs, relayed } = summary;
  return (
    <dl className="request-facts">
      <Fact title="Request">
        <span className="mono">{id}</span> <CopyButton text={id} label="Copy id" />
        <small>{dayAndTime(startedAt)}</small>
      </Fact>
      <Fact title="Client">
        {client ?? protocolTitles[protocol]}
        <small>
          {protocolTitles[protocol]}, {stream ? 'streamed' : 'not streamed'}, {path}
          {preset && `, preset ${preset}`}
        </small>
      </Fact>
      {machine !== undefined && <Fact title="Machine">{machine}</Fact>}
      {session !== undefined && (
        <Fact title="Session">
          <a className="mono" href={listAddress({ group: 'session', session })}>
            {session}
          </a>
        </Fact>
      )}
      <Fact title="Model">
        {provider === undefined ? '–' : `${provider}, ${model ?? asked}`}
        <small>asked for {asked || '–'}</small>
      </Fact>
      <Fact title="Pass-through">{provider === undefined ? '–' : untouched(relayed)}</Fact>
      <Fact title="Duration">
        {duration(durationMs)}
        <small>{firstByteMs === undefined ? 'no bytes sent' : `first byte after ${duration(firstByteMs)}`}</small>
      </Fact>
      <Fact title="Gateway overhead">{overheadMs === undefined ? '–' : duration(overheadMs)}</Fact>
      <Fact title="Tokens">{usage ? <Tokens usage={usage} /> : 'not reported'}</Fact>
      <Fact title="Cost">{cost === undefined ? `–${usage ? ' (no price is known)' : ''}` : usd(cost)}</Fact>
    </dl>
  );
};

const Fact = ({ title, children }: { readonly title: string; readonly children: ReactNode }) => (
  <div className="fact">
    <dt>{title}</dt>
    <dd>{children}</dd>
  </div>
);

const untouched = ({ request, reply }: RequestSummary['relayed']): string => {
  if (request && reply) return 'request and response';
  if (request) return 'request only';
  return reply ? 'response only' : 'none: both were converted';
};

const Tokens = ({
  usage: { input = 0, cacheRead = 0, cacheWrite = 0, output = 0, reasoning = 0 },
}: {
  readonly usage: Usage;
}) => (
  <>
    {count(input + cacheRead + cacheWrite)} in, {count(output)} out
    <small>
      {[
        cacheRead > 0 && `${count(cacheRead)} cache read`,
        cacheWrite > 0 && `${count(cacheWrite)} cache write`,
        reasoning > 0 && `${count(reasoning)} reasoning`,
      ]
        .filter(Boolean)
        .join(', ')}
    </small>
  </>
);

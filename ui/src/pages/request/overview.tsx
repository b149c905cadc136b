import type { ReactNode } from 'react';
import { protocolTitles } from '../../api/protocols.ts';
import type { RequestSummary, Usage } from '../../api/requests/requests.ts';
import { count, counted } from '../../format/count.ts';
import { duration } from '../../format/duration.ts';
import { usd } from '../../format/usd.ts';
import { Panel } from '../../parts/layout/panel.tsx';
import { Badge } from '../../parts/text/badge.tsx';
import { href } from '../../router/route.ts';

/** The summary of a request: route, timing, tokens, losses. */
export const Overview = ({ summary }: { readonly summary: RequestSummary }) => {
  const { protocol, path, preset, client, machine, session, asked, stream, scenario, reason, provider, model } =
    summary;
  const {
    usage,
    cost,
    firstByteMs,
    durationMs,
    overheadMs,
    losses,
    lossesOmitted = 0,
    relayed,
    failedAttempts = [],
  } = summary;
  return (
    <Panel title="Overview">
      <dl className="request-facts">
        <Fact title="Client">
          {protocolTitles[protocol]}, {stream ? 'streamed' : 'not streamed'}
          <small>
            {path}
            {preset && `, preset ${preset}`}
            {client && `, key of ${client}`}
          </small>
        </Fact>
        {machine !== undefined && <Fact title="Machine">{machine}</Fact>}
        {session !== undefined && (
          <Fact title="Session">
            <a className="mono" href={href('/sessions', session)}>
              {session}
            </a>
          </Fact>
        )}
        <Fact title="Requested model">{asked || '–'}</Fact>
        <Fact title="Routed to">
          {provider === undefined ? '–' : `${provider}, ${model ?? asked}`}
          <small>{reason ?? scenario ?? 'not routed'}</small>
        </Fact>
        <Fact title="Pass-through">{provider === undefined ? '–' : untouched(relayed)}</Fact>
        <Fact title="Duration">
          {duration(durationMs)}
          <small>{firstByteMs === undefined ? 'no bytes sent' : `first byte after ${duration(firstByteMs)}`}</small>
        </Fact>
        <Fact title="Gateway overhead">{overheadMs === undefined ? '–' : duration(overheadMs)}</Fact>
        <Fact title="Tokens">{usage ? <Tokens usage={usage} /> : 'not reported'}</Fact>
        <Fact title="Cost">{cost === undefined ? `–${usage ? ' (no price is known)' : ''}` : usd(cost)}</Fact>
        <Fact title="Losses">
          {losses.length === 0 ? (
            'none'
          ) : (
            <ul className="losses">
              {losses.map(({ step, field, action, note }) => (
                <li key={`${step} ${field} ${action}`}>
                  <code>{field}</code> <Badge tone="warn">{action}</Badge>
                  <small>
                    by {step}
                    {note && `: ${note}`}
                  </small>
                </li>
              ))}
              {lossesOmitted > 0 && <li>and {counted(lossesOmitted, 'more field')}</li>}
            </ul>
          )}
        </Fact>
      </dl>
      {failedAttempts.length > 0 && (
        <ol className="attempts" aria-label="Failed attempts">
          {failedAttempts.map((attempt, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: the same call may be made twice; the list never changes
            <li key={index}>
              {attempt.provider}, {attempt.model}: {attempt.outcome}
            </li>
          ))}
        </ol>
      )}
    </Panel>
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

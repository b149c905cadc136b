import type { ReactNode } from 'react';
import { protocolTitles } from '../../api/protocols.ts';
import type { RequestSummary, Usage } from '../../api/requests.ts';
import { count, counted } from '../../format/count.ts';
import { duration } from '../../format/duration.ts';
import { Badge } from '../../parts/badge.tsx';
import { Panel } from '../../parts/panel.tsx';

/** What is known of every request: where it went and why, what it took, what was lost. */
export const Overview = ({ summary }: { readonly summary: RequestSummary }) => {
  const { protocol, path, preset, asked, stream, scenario, reason, provider, model } = summary;
  const {
    usage,
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
      <dl className="facts">
        <Fact title="From">
          {protocolTitles[protocol]}, {stream ? 'streamed' : 'in one piece'}
          <small>
            {path}
            {preset && `, preset ${preset}`}
          </small>
        </Fact>
        <Fact title="Asked for">{asked || '–'}</Fact>
        <Fact title="Went to">
          {provider === undefined ? 'nobody' : `${provider}, ${model ?? asked}`}
          <small>{reason ?? scenario ?? 'no route was taken'}</small>
        </Fact>
        <Fact title="Passed untouched">{untouched(relayed)}</Fact>
        <Fact title="Duration">
          {duration(durationMs)}
          <small>{firstByteMs === undefined ? 'no byte was sent' : `first byte after ${duration(firstByteMs)}`}</small>
        </Fact>
        <Fact title="Gateway’s own time">{overheadMs === undefined ? '–' : duration(overheadMs)}</Fact>
        <Fact title="Tokens">{usage ? <Tokens usage={usage} /> : 'not told'}</Fact>
        <Fact title="Lost">
          {losses.length === 0 ? (
            'nothing'
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
        <ol className="attempts" aria-label="Tries that came to nothing">
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
  if (request && reply) return 'request and answer';
  if (request) return 'the request';
  return reply ? 'the answer' : 'nothing: both were converted';
};

const Tokens = ({
  usage: { input = 0, cacheRead = 0, cacheWrite = 0, output = 0, reasoning = 0 },
}: {
  readonly usage: Usage;
}) => (
  <>
    {count(input + cacheRead + cacheWrite)} read, {count(output)} written
    <small>
      {[
        cacheRead > 0 && `${count(cacheRead)} read from a cache`,
        cacheWrite > 0 && `${count(cacheWrite)} put into one`,
        reasoning > 0 && `${count(reasoning)} for reasoning`,
      ]
        .filter(Boolean)
        .join(', ')}
    </small>
  </>
);

import type { ReactNode } from 'react';
import type { Explanation } from '../../api/explain.ts';
import { protocolTitles } from '../../api/protocols.ts';
import { rules } from '../../config/rules.ts';
import { count, counted } from '../../format/count.ts';
import { Badge } from '../../parts/badge.tsx';
import { CodeBlock } from '../../parts/code-block.tsx';

/** An explanation as the way that the request would go. */
export const ExplanationSteps = ({ explanation }: { readonly explanation: Explanation }) => {
  const { client, asked, scenario, reason, tokens, provider, model, format, stream, url } = explanation;
  const { headers, body, losses, relays, warnings, fallbacks = [] } = explanation;
  const title = rules.find(({ name }) => name === scenario)?.title ?? scenario;
  return (
    <ol className="way" aria-label="What would become of the request">
      <Step title="Read">
        As a request of {protocolTitles[client]} for <code>{asked}</code>, {stream ? 'streamed' : 'not streamed'}
        {tokens !== null && `, ${counted(tokens, 'token')}`}.
      </Step>
      <Step title="Routed">
        <Badge tone="accent">{title}</Badge> {reason}
        {!/[.!?]$/.test(reason) && '.'} It goes to <strong>{`${provider},${model}`}</strong>.
      </Step>
      {warnings.length > 0 && (
        <Step title="To know">
          <ul>
            {warnings.map((warning) => (
              <li key={warning}>{warning}</li>
            ))}
          </ul>
        </Step>
      )}
      <Step title="Converted">
        {relays.request ? (
          <>The request passes as it came: both sides speak {format} and no stage changes it.</>
        ) : (
          <>The request is written in the format {format}.</>
        )}{' '}
        {relays.reply ? 'The answer passes as it comes.' : 'The answer is converted on its way back.'}
      </Step>
      <Step title={losses.length === 0 ? 'Nothing lost' : counted(losses.length, 'loss', 'losses')}>
        {losses.length === 0 ? (
          'Everything that the request asks for is carried.'
        ) : (
          <ul>
            {losses.map(({ path, outcome, step, note }) => (
              <li key={`${step} ${path}`}>
                <code>{path}</code> {outcome} by {step}
                {note !== undefined && `: ${note}`}
              </li>
            ))}
          </ul>
        )}
      </Step>
      <Step title="Called">
        <p>
          <code className="way-url">POST {url}</code>
        </p>
        <details>
          <summary>Headers and body, {count(JSON.stringify(body).length)} characters</summary>
          <div className="stack-tight">
            <CodeBlock
              wrap
              label="Headers"
              text={Object.entries(headers)
                .map(([name, value]) => `${name}: ${value}`)
                .join('\n')}
            />
            <CodeBlock label="Body" text={cut(JSON.stringify(body, null, 2))} />
          </div>
        </details>
      </Step>
      {fallbacks.length > 0 && (
        <Step title="And if it can not serve">
          <ol>
            {fallbacks.map((next) => (
              <li key={`${next.provider},${next.model}`}>
                <strong>{`${next.provider},${next.model}`}</strong> <Badge>{next.format}</Badge>{' '}
                {next.fault !== null && <span className="field-error">can not be used: {next.fault}</span>}
              </li>
            ))}
          </ol>
        </Step>
      )}
    </ol>
  );
};

/** So many characters of a body are shown. */
const mostShown = 20_000;

const cut = (text: string): string =>
  text.length > mostShown ? `${text.slice(0, mostShown)}\n… ${count(text.length - mostShown)} characters more` : text;

const Step = ({ title, children }: { readonly title: string; readonly children: ReactNode }) => (
  <li className="way-step">
    <h3>{title}</h3>
    <div className="way-text">{children}</div>
  </li>
);

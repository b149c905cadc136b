import type { ReactNode } from 'react';
import type { Explanation } from '../../api/config/explain.ts';
import { protocolTitles } from '../../api/protocols.ts';
import { rules } from '../../config/rules.ts';
import { count, counted } from '../../format/figures.ts';
import { Badge } from '../../parts/text/badge.tsx';
import { CodeBlock } from '../../parts/text/code-block.tsx';

/** The result of a dry run, step by step. */
export const ExplanationSteps = ({ explanation }: { readonly explanation: Explanation }) => {
  const { client, asked, scenario, reason, tokens, provider, model, format, stream, url } = explanation;
  const {
    headers,
    body,
    losses,
    taught,
    compaction,
    relays,
    warnings,
    pool,
    fallbacks = [],
    rules: looked = [],
    conditions = [],
  } = explanation;
  const title = rules.find(({ name }) => name === scenario)?.title ?? scenario;
  return (
    <ol className="way" aria-label="Dry run result">
      <Step title="Decoded">
        {protocolTitles[client]} request for <code>{asked}</code>, {stream ? 'streamed' : 'not streamed'}
        {tokens !== null && `, ${counted(tokens, 'token')}`}.
      </Step>
      <Step title="Routed">
        <Badge tone="accent">{title}</Badge> {reason}
        {!/[.!?]$/.test(reason) && '.'} The destination is <strong>{`${provider},${model}`}</strong>.
      </Step>
      {looked.length > 0 && (
        <Step title="Your rules">
          <ul>
            {looked.map((rule) => (
              <li key={rule.name}>
                <strong>{rule.name}</strong> {rule.matches ? 'matches' : 'does not match'}
                {rule.facts.length > 0 && ': '}
                {rule.facts.map(({ says, holds }) => `${says} (${answerOf(holds)})`).join('; ')}
              </li>
            ))}
          </ul>
        </Step>
      )}
      {conditions.length > 0 && (
        <Step title="Stages with a condition">
          <ul>
            {conditions.map(({ name, entry, holds, because }) => (
              <li key={entry}>
                <strong>{name}</strong> {holds ? 'runs' : 'is left out: its condition does not hold'}
                {because !== '' && `: ${because}`}
              </li>
            ))}
          </ul>
        </Step>
      )}
      {pool && (
        <Step title={`Pool ${pool.name}`}>
          <ul aria-label="Members">
            {pool.members.map((member) => (
              <li key={`${member.provider},${member.model}`}>
                <strong>{`${member.provider},${member.model}`}</strong>{' '}
                {member.provider === provider && member.model === model && <Badge tone="accent">chosen</Badge>}{' '}
                {member.passed !== null && <span className="soft">passed over: {member.passed}</span>}
              </li>
            ))}
          </ul>
        </Step>
      )}
      {warnings.length > 0 && (
        <Step title="Warnings">
          <ul>
            {warnings.map((warning) => (
              <li key={warning}>{warning}</li>
            ))}
          </ul>
        </Step>
      )}
      <Step title="Converted">
        {relays.request ? (
          <>The request passes through unchanged: both sides use {format} and no stage modifies it.</>
        ) : (
          <>The request is converted to {format}.</>
        )}{' '}
        {relays.reply ? 'The response passes through unchanged.' : 'The response is converted back.'}
      </Step>
      {taught.length > 0 && (
        <Step title="Learned from refusals">
          <ul>
            {taught.map(({ field, does, words }) => (
              <li key={field}>
                <code>{field}</code> is {does}: “{words}”
              </li>
            ))}
          </ul>
        </Step>
      )}
      {compaction && (
        <Step title="Compacted">
          {compaction.by === 'model'
            ? 'The model is asked for a summary, which all providers can read later.'
            : 'The provider compacts the conversation; it alone can read the result.'}{' '}
          The conversation has about {counted(compaction.tokens, 'token')}.
        </Step>
      )}
      <Step title={losses.length === 0 ? 'No losses' : counted(losses.length, 'loss', 'losses')}>
        {losses.length === 0 ? (
          'All fields of the request are kept.'
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
        <Step title={pool ? 'If it fails' : 'Fallbacks'}>
          <ol>
            {fallbacks.map((next) => (
              <li key={`${next.provider},${next.model}`}>
                <strong>{`${next.provider},${next.model}`}</strong> <Badge>{next.format}</Badge>{' '}
                {next.fault !== null && <span className="field-error">cannot be used: {next.fault}</span>}
              </li>
            ))}
          </ol>
        </Step>
      )}
    </ol>
  );
};

const answerOf = (holds: boolean | null): string => (holds === null ? 'not known' : holds ? 'yes' : 'no');

/** The most characters of a body that are shown. */
const mostShown = 20_000;

const cut = (text: string): string =>
  text.length > mostShown ? `${text.slice(0, mostShown)}\n… ${count(text.length - mostShown)} more characters` : text;

const Step = ({ title, children }: { readonly title: string; readonly children: ReactNode }) => (
  <li className="way-step">
    <h3>{title}</h3>
    <div className="stack-tight way-text">{children}</div>
  </li>
);

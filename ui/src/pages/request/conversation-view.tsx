import { memo, type ReactNode, useMemo, useState } from 'react';
import type { Capture, RequestSummary } from '../../api/requests/requests.ts';
import { count, counted } from '../../format/figures.ts';
import { Button } from '../../parts/controls/button.tsx';
import { Fold } from '../../parts/layout/fold.tsx';
import { Notice } from '../../parts/layout/notice.tsx';
import { ScrollRegion } from '../../parts/layout/scroll-region.tsx';
import { Badge } from '../../parts/text/badge.tsx';
import { TurnParts } from '../../parts/text/turn-parts.tsx';
import type { Answer } from '../../stream/answer.ts';
import type { Conversation, Turn } from '../../stream/conversation.ts';
import './conversation-view.css';
import { readExchange } from './read-exchange.ts';

/** How many turns are shown at first, from the last, and how many more at each click: long ones have thousands. */
const turnsAtOnce = 30;

/** The conversation that the client sent, and the response that it received. */
export const ConversationView = ({
  summary,
  capture,
  notes,
}: {
  readonly summary: RequestSummary;
  readonly capture: Capture;
  /** What stands beside each turn of the assistant, the response included, in their order. */
  readonly notes?: readonly ReactNode[];
}) => {
  const { conversation, answer, missing } = useMemo(() => readExchange(summary, capture), [summary, capture]);
  return (
    <div className="stack">
      {missing.map((text) => (
        <Notice key={text} kind="warn">
          {text}
        </Notice>
      ))}
      {conversation && <Sent {...conversation} notes={notes} />}
      <Received answer={answer} known={summary.fault?.message} note={notes?.at(-1)} />
    </div>
  );
};

const Sent = ({
  turns,
  tools,
  parameters,
  notes,
}: Conversation & { readonly notes: readonly ReactNode[] | undefined }) => {
  const [shown, setShown] = useState(turnsAtOnce);
  const before = Math.max(0, turns.length - shown);
  const answers = turns.flatMap(({ role }, at) => (role === 'assistant' ? [at] : []));
  return (
    <>
      <div className="row conversation-folds">
        <Fold title="Parameters">
          <ScrollRegion className="tool-input" label="Parameters">
            <pre>{JSON.stringify(parameters, null, 2)}</pre>
          </ScrollRegion>
        </Fold>
        {tools.length > 0 && (
          <Fold title={counted(tools.length, 'tool')}>
            <ScrollRegion className="conversation-tools" label="Tools">
              <dl>
                {tools.map(({ name, about }, index) => (
                  // biome-ignore lint/suspicious/noArrayIndexKey: a recorded list never changes
                  <div key={index}>
                    <dt className="mono">{name}</dt>
                    <dd className="soft">{about}</dd>
                  </div>
                ))}
              </dl>
            </ScrollRegion>
          </Fold>
        )}
      </div>
      {before > 0 && (
        <p className="row">
          <Button onClick={() => setShown(shown + turnsAtOnce)}>Show earlier turns</Button>
          <span className="soft small">
            {count(before)} of {counted(turns.length, 'turn')} above
          </span>
        </p>
      )}
      <ol className="stack" aria-label="Turns">
        {turns.slice(before).map((turn, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: a recorded list never changes; counted from its start
          <TurnView key={before + index} turn={turn} note={notes?.[answers.indexOf(before + index)]} />
        ))}
      </ol>
    </>
  );
};

const titles = { system: 'System', user: 'User', assistant: 'Assistant' } as const;

const TurnView = memo(({ turn: { role, parts }, note }: { readonly turn: Turn; readonly note: ReactNode }) => (
  <li className={`stack-tight turn turn-${role}`}>
    <h3 className="row">
      {titles[role]}
      {note}
    </h3>
    {role === 'system' ? (
      <Fold title={`${counted(lengthOf(parts), 'character')} of instructions`}>
        <TurnParts parts={parts} />
      </Fold>
    ) : (
      <TurnParts parts={parts} />
    )}
  </li>
));

const lengthOf = (parts: Turn['parts']): number =>
  parts.reduce((sum, part) => sum + (part.type === 'text' ? part.text.length : 0), 0);

const Received = ({
  answer: { model, finish, fault, parts },
  known,
  note,
}: {
  readonly answer: Answer;
  /** The fault that the page shows already. */
  readonly known: string | undefined;
  readonly note: ReactNode;
}) => (
  <section className="stack-tight turn turn-response" aria-label="Response">
    <div className="row">
      <h3>Response</h3>
      {model && <span className="soft small mono">{model}</span>}
      {finish && <Badge>{finish}</Badge>} {note}
    </div>
    <TurnParts parts={parts} />
    {fault !== undefined && fault !== known && <Notice kind="failed">{fault}</Notice>}
    {fault !== undefined && fault === known && (
      <p className="soft">{parts.length === 0 ? 'An error, as above' : 'The response broke off here.'}</p>
    )}
    {fault === undefined && parts.length === 0 && <p className="soft">Empty response</p>}
  </section>
);

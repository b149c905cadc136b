import { pretty } from '../../api/json.ts';
import { Badge } from '../../parts/badge.tsx';
import { Empty } from '../../parts/empty.tsx';
import { MarkdownView } from '../../parts/markdown-view.tsx';
import { ScrollRegion } from '../../parts/scroll-region.tsx';
import type { AnswerPart } from '../../stream/answer.ts';
import type { Run } from './run.ts';

/** The response, rendered. */
export const AnswerView = ({ run: { answer, phase } }: { readonly run: Run }) => {
  if (answer.parts.length > 0) {
    return (
      <div className="answer">
        {answer.parts.map((part, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: an answer grows at its end; a part stays in its place
          <PartView key={index} part={part} />
        ))}
      </div>
    );
  }
  const isOpen = phase === 'waiting' || phase === 'receiving';
  return <Empty title={isOpen ? 'No content yet' : 'Empty response'} />;
};

const PartView = ({ part }: { readonly part: AnswerPart }) => {
  switch (part.type) {
    case 'text':
      return <MarkdownView text={part.text} />;
    case 'thinking':
      return (
        <details className="thinking">
          <summary>Thinking</summary>
          <MarkdownView text={part.text} />
        </details>
      );
    case 'tool':
      return (
        <section className="tool-call" aria-label={`Call to ${part.name}`}>
          <p className="row">
            <Badge tone="accent">tool call</Badge> <b>{part.name}</b> <span className="soft mono small">{part.id}</span>
          </p>
          <ScrollRegion className="tool-input" label={`Input of ${part.name}`}>
            <pre>{pretty(part.input)}</pre>
          </ScrollRegion>
        </section>
      );
    case 'other':
      return (
        <p className="soft">
          <Badge>{part.name}</Badge> (see the raw events)
        </p>
      );
  }
};

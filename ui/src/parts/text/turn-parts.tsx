import { pretty } from '../../api/json.ts';
import type { ToolResult, TurnPart } from '../../stream/conversation.ts';
import { Fold } from '../layout/fold.tsx';
import { ScrollRegion } from '../layout/scroll-region.tsx';
import { MarkdownView } from '../markdown/markdown-view.tsx';
import { Badge } from './badge.tsx';
import { LongText } from './long-text.tsx';
import './turn-parts.css';

/** The parts of a turn or a response, rendered. All text stays text. */
export const TurnParts = ({ parts }: { readonly parts: readonly TurnPart[] }) => (
  <div className="turn-parts">
    {parts.map((part, index) => (
      // biome-ignore lint/suspicious/noArrayIndexKey: a response grows at its end; a part stays in its place
      <PartView key={index} part={part} />
    ))}
  </div>
);

const PartView = ({ part }: { readonly part: TurnPart }) => {
  switch (part.type) {
    case 'text':
      return <Prose text={part.text} />;
    case 'thinking':
      return (
        <Fold className="thinking" title="Thinking">
          <Prose text={part.text} />
        </Fold>
      );
    case 'tool':
      return (
        <section className="tool-call" aria-label={`Call to ${part.name}`}>
          <p className="row">
            <Badge tone="accent">tool call</Badge> <b>{part.name}</b> <span className="soft mono small">{part.id}</span>
          </p>
          <Listing label={`Input of ${part.name}`} text={pretty(part.input)} />
          {'result' in part && part.result && <Result title={`Result of ${part.name}`} result={part.result} />}
        </section>
      );
    case 'result':
      return (
        <section className="tool-call" aria-label="Tool result">
          <p className="row">
            <Badge>tool result</Badge> <span className="soft mono small">{part.id}</span>
          </p>
          <Result title="Result" result={part.result} />
        </section>
      );
    case 'picture':
      return <Picture url={part.url} />;
    case 'file':
      return (
        <p>
          <Badge>file</Badge> {part.name}
        </p>
      );
    case 'other':
      return (
        <p className="soft">
          <Badge>{part.name}</Badge> (see the raw events)
        </p>
      );
    default:
      return part satisfies never;
  }
};

const Prose = ({ text }: { readonly text: string }) => (
  <LongText text={text} render={(shown) => <MarkdownView text={shown} />} />
);

const Listing = ({ label, text }: { readonly label: string; readonly text: string }) => (
  <ScrollRegion className="tool-input" label={label}>
    <LongText text={text} render={(shown) => <pre>{shown}</pre>} />
  </ScrollRegion>
);

/** The result of a tool: its text as it is, since a tool doesn't write Markdown. */
const Result = ({ title, result: { failed, parts } }: { readonly title: string; readonly result: ToolResult }) => (
  <Fold
    className="tool-result"
    title={
      <>
        Result {failed && <Badge tone="bad">error</Badge>} <span className="soft small cut">{firstLine(parts)}</span>
      </>
    }
  >
    {parts.map((part, index) =>
      part.type === 'text' ? (
        // biome-ignore lint/suspicious/noArrayIndexKey: a result doesn't change
        <Listing key={index} label={title} text={part.text} />
      ) : (
        // biome-ignore lint/suspicious/noArrayIndexKey: see above
        <PartView key={index} part={part} />
      ),
    )}
  </Fold>
);

const firstLine = (parts: readonly TurnPart[]): string => {
  const text = parts.find((part) => part.type === 'text')?.text.slice(0, 120) ?? '';
  return text === '' && parts.length === 0 ? 'empty' : (text.split('\n')[0] ?? '');
};

/** Pictures that can be drawn. Anything else, and what lies elsewhere, is named: the page loads nothing from other places. */
const drawable = /^data:image\/(?:png|jpeg|webp|gif);base64,/;

const Picture = ({ url }: { readonly url: string }) =>
  drawable.test(url) ? (
    <img className="turn-picture" src={url} alt="In the conversation" />
  ) : (
    <p>
      <Badge>image</Badge> <span className="turn-address">{url.slice(0, 200) || 'without data'}</span>
    </p>
  );

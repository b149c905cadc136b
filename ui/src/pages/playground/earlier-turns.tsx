import { counted } from '../../format/figures.ts';
import { Button } from '../../parts/controls/button.tsx';
import { TextArea } from '../../parts/controls/field.tsx';
import { Notice } from '../../parts/layout/notice.tsx';
import { textOf } from '../../stream/compose-conversation.ts';
import type { Turn, TurnPart } from '../../stream/conversation.ts';
import { withResult } from './prompt.ts';

/** What was said before. The last response's calls can be answered. */
export const EarlierTurns = ({
  turns,
  onChange,
}: {
  readonly turns: readonly Turn[];
  readonly onChange: (turns: readonly Turn[]) => void;
}) => {
  const last = turns.at(-1);
  const change = (at: number, changed: TurnPart): void => {
    if (last) onChange([...turns.slice(0, -1), { ...last, parts: last.parts.with(at, changed) }]);
  };
  return (
    <>
      <Notice
        title={`Continues a conversation of ${counted(turns.length, 'message')}`}
        actions={<Button onClick={() => onChange([])}>Start over</Button>}
      >
        <ol className="stack-tight prompt-turns">
          {turns.map(({ role, parts }, at) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: messages are only added at the end
            <li key={at}>
              <strong>{role === 'user' ? 'User' : 'Assistant'}</strong>{' '}
              {parts.map((part, index) => (
                // biome-ignore lint/suspicious/noArrayIndexKey: parts stay in their places
                <Part key={index} part={part} />
              ))}
            </li>
          ))}
        </ol>
      </Notice>
      {last?.parts.map(
        (part, at) =>
          part.type === 'tool' && (
            <TextArea
              // biome-ignore lint/suspicious/noArrayIndexKey: parts stay in their places
              key={at}
              label={`Result of ${part.name}`}
              hint={`For ${cut(part.input)}. Without a result, the call is left out.`}
              rows={2}
              value={textOf(part.result?.parts ?? [])}
              onChange={(text) => change(at, withResult(part, text))}
            />
          ),
      )}
    </>
  );
};

const Part = ({ part }: { readonly part: TurnPart }) => {
  switch (part.type) {
    case 'text':
      return cut(part.text);
    case 'picture':
      return <img className="picture" src={part.url} alt="In the conversation" />;
    case 'file':
      return <em>{part.name}, no longer kept </em>;
    case 'tool':
      return (
        <>
          calls {part.name} {part.result && `→ ${cut(textOf(part.result.parts))}`}{' '}
        </>
      );
    default:
      return null;
  }
};

/** How much of an earlier message is shown. */
const shownChars = 300;

const cut = (text: string): string => (text.length > shownChars ? `${text.slice(0, shownChars)}…` : text);

import { protocolTitles } from '../../api/protocols.ts';
import { timeOfDay } from '../../format/figures.ts';
import { Fold } from '../../parts/layout/fold.tsx';
import type { SentPrompt } from './draft.ts';

/** Recently sent prompts; picking one restores it in the form. */
export const SentPrompts = ({
  list,
  onPick,
}: {
  readonly list: readonly SentPrompt[];
  readonly onPick: (sent: SentPrompt) => void;
}) =>
  list.length === 0 ? null : (
    <Fold className="sent" title={`Sent before (${list.length})`}>
      <ol className="bare sent-list">
        {list.map((sent) => (
          <li key={sent.at}>
            <button type="button" className="sent-prompt" onClick={() => onPick(sent)}>
              <span className="cut">{sent.prompt.text || '(no text)'}</span>
              <small>
                {timeOfDay(sent.at)}, {sent.target === 'all' ? 'all three' : protocolTitles[sent.target]},{' '}
                {sent.prompt.model}
              </small>
            </button>
          </li>
        ))}
      </ol>
    </Fold>
  );

import type { ConfigFile } from '../../api/config/config.ts';
import type { Json } from '../../api/json.ts';
import { Button } from '../../parts/controls/button.tsx';
import { DiffView } from '../../parts/diff/diff-view.tsx';
import { Notice } from '../../parts/layout/notice.tsx';
import { hideTyped } from '../fields/hide-typed.ts';
import { resolveConflicts } from './config-draft.ts';
import type { Conflict } from './merge-changes.ts';

/** Shows conflicting changes, for the user to resolve. */
export const Conflicts = ({
  conflicts,
  saved,
}: {
  readonly conflicts: readonly Conflict[];
  readonly saved: ConfigFile;
}) => (
  <Notice
    kind="warn"
    title="The same settings were changed elsewhere"
    actions={
      <>
        <Button onClick={() => resolveConflicts(saved, 'mine')}>Keep mine</Button>
        <Button onClick={() => resolveConflicts(saved, 'theirs')}>Use saved</Button>
      </>
    }
  >
    <div className="stack" role="alert">
      <p>
        Not saved: since you started editing, other values were saved for {conflicts.map(({ path }) => path).join(', ')}
        . Choose which to keep: the saved values (−) or yours (+). All other changes are merged.
      </p>
      {conflicts.map(({ path, mine, theirs }) => (
        <DiffView key={path} label={path} before={shown(path, theirs)} after={shown(path, mine)} />
      ))}
    </div>
  </Notice>
);

const shown = (path: string, value: Conflict['mine']): Json =>
  value === undefined ? {} : hideTyped({ [path.split('.').at(-1) ?? path]: value });

import type { ConfigFile } from '../api/config.ts';
import { Button } from '../parts/button.tsx';
import { Notice } from '../parts/notice.tsx';
import { settleConflicts } from './config-draft.ts';
import { Diff } from './diff.tsx';
import { hideKeys } from './hide-keys.ts';
import type { Conflict } from './merge-changes.ts';

/** Explains what was changed here and elsewhere, and lets somebody decide. */
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
        <Button onClick={() => settleConflicts(saved, 'mine')}>Keep mine</Button>
        <Button onClick={() => settleConflicts(saved, 'theirs')}>Take what is saved</Button>
      </>
    }
  >
    <div className="stack" role="alert">
      <p>
        Nothing was saved: since you began, somebody else has saved other values for{' '}
        {conflicts.map(({ path }) => path).join(', ')}. Decide which are to stay: what is saved (−), or what you have
        (+). Everything else of both sides fits together and stays.
      </p>
      {conflicts.map(({ path, mine, theirs }) => (
        <Diff key={path} label={path} before={print(path, theirs)} after={print(path, mine)} />
      ))}
    </div>
  </Notice>
);

const print = (path: string, value: Conflict['mine']): string =>
  value === undefined ? '' : JSON.stringify(hideKeys({ [path.split('.').at(-1) ?? path]: value }).shown, null, 2);

import { useEffect, useRef, useState } from 'react';
import { isAbort, wordError } from '../../api/api-error.ts';
import { findLocalServers, type LocalServer } from '../../api/config/providers.ts';
import { count } from '../../format/count.ts';
import { Button } from '../../parts/controls/button.tsx';
import { Notice } from '../../parts/layout/notice.tsx';

/** Finds the model servers on the gateway's machine, to add one as a provider. */
export const LocalServers = ({
  onAdd,
}: {
  readonly onAdd: (provider: { name: string; baseUrl: string; apiKey: string; models: readonly string[] }) => void;
}) => {
  const [found, setFound] = useState<readonly LocalServer[]>();
  const [problem, setProblem] = useState<string>();
  const [busy, setBusy] = useState(false);
  const leaving = useRef<AbortController>(undefined);
  useEffect(() => () => leaving.current?.abort(), []);
  const find = async (): Promise<void> => {
    const own = new AbortController();
    leaving.current = own;
    setBusy(true);
    setProblem(undefined);
    try {
      setFound((await findLocalServers(own.signal)).servers);
    } catch (error) {
      if (isAbort(error)) return;
      setProblem(wordError(error));
    }
    setBusy(false);
  };
  return (
    <div className="local-servers">
      <div className="row">
        <Button icon="search" busy={busy} onClick={() => void find()}>
          Find local servers
        </Button>
        <span className="soft small" role="status">
          {found?.length === 0 && 'None was found at the usual ports of the gateway’s machine.'}
        </span>
      </div>
      {problem !== undefined && <Notice kind="failed">{problem}</Notice>}
      {found && found.length > 0 && (
        <ul aria-label="Local servers">
          {found.map(({ name, title, baseUrl, models }) => (
            <li key={baseUrl} className="row">
              <Button
                icon="add"
                onClick={() => onAdd({ name, baseUrl, apiKey: '', models: models.map((model) => model.name) })}
              >
                {title}
              </Button>
              <span className="soft small">
                {baseUrl}: {models.map(describe).join(', ') || 'no models'}
              </span>
            </li>
          ))}
        </ul>
      )}
    </div>
  );
};

const describe = ({ name, contextWindow }: LocalServer['models'][number]): string =>
  contextWindow === undefined ? name : `${name} (${count(contextWindow)} tokens)`;

import { useEffect, useRef, useState } from 'react';
import { isAbort, wordError } from '../../api/api-error.ts';
import type { ProviderFile, TransformerEntry } from '../../api/config/config.ts';
import { type ProviderTest, testProvider } from '../../api/config/providers.ts';
import { useForm } from '../../config/fields/form.ts';
import { modelNames } from '../../config/models.ts';
import { duration } from '../../format/figures.ts';
import { Button } from '../../parts/controls/button.tsx';
import { ComboField } from '../../parts/controls/combo-field.tsx';
import { Notice } from '../../parts/layout/notice.tsx';

/** Tests the provider as typed, saved or not, with one small request. */
export const TestConnection = ({
  provider,
  transformers,
}: {
  readonly provider: ProviderFile;
  /** Those of the draft that the provider is in; default: the page's. */
  readonly transformers?: readonly TransformerEntry[];
}) => {
  const models = modelNames(provider);
  const [model, setModel] = useState<string>();
  const [tested, setTested] = useState<{ readonly of: string; readonly result: ProviderTest }>();
  const [busy, setBusy] = useState(false);
  const leaving = useRef<AbortController>(undefined);
  useEffect(() => () => leaving.current?.abort(), []);
  const { config, inherited } = useForm();
  const edited = { provider, transformers: transformers ?? config.transformers ?? inherited?.transformers ?? [] };
  const asked = model ?? models[0] ?? '';
  const of = JSON.stringify([edited, asked]);
  // A result says nothing about a provider that was changed since.
  const result = tested?.of === of ? tested.result : undefined;
  const test = async (): Promise<void> => {
    if (asked === '' || busy) return;
    const own = new AbortController();
    leaving.current = own;
    setBusy(true);
    setTested(undefined);
    try {
      const outcome = await testProvider(edited, asked, own.signal);
      setTested({ of, result: outcome });
    } catch (error) {
      if (isAbort(error)) return;
      setTested({ of, result: { ok: false, ms: 0, message: wordError(error) } });
    }
    setBusy(false);
  };
  return (
    <section className="stack-tight" aria-label="Test the connection">
      <div className="test-row">
        <ComboField
          label="Test with model"
          hint="Sends one request for at most 16 tokens. Nothing is saved."
          value={asked}
          onChange={setModel}
          options={models.map((value) => ({ value }))}
          onEnter={() => void test()}
        />
        <Button icon="play" busy={busy} disabled={asked === ''} onClick={() => void test()}>
          Test connection
        </Button>
      </div>
      <div role="status">
        {busy && <p className="soft">Waiting for the provider…</p>}
        {result && (
          <Notice kind={result.ok ? 'done' : 'failed'} title={result.ok ? 'Connection works' : 'Connection failed'}>
            <p>{result.message}</p>
            <p className="soft small">
              {result.status !== undefined && <>Status {result.status}, </>}
              {duration(result.ms)}
            </p>
            {result.reply !== undefined && <blockquote className="test-reply">{result.reply}</blockquote>}
          </Notice>
        )}
      </div>
    </section>
  );
};

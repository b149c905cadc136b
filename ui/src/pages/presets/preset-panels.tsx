import type { ConfigFile, Finding } from '../../api/config/config.ts';
import { Diff } from '../../config/draft/diff.tsx';
import { mergePreset } from '../../config/draft/merge-preset.ts';
import { printHidden } from '../../config/fields/hide-typed.ts';
import { JsonEditor } from '../../parts/json-editor/json-editor.tsx';
import { Notice } from '../../parts/layout/notice.tsx';
import { Panel } from '../../parts/layout/panel.tsx';
import { CodeBlock } from '../../parts/text/code-block.tsx';
import { href } from '../../router/route.ts';
import { presetUrl } from './preset-url.ts';

/** The manifest as JSON, with what is wrong in it. */
export const ManifestPanel = ({
  name,
  text,
  onChange,
  faults,
  warnings,
}: {
  readonly name: string;
  readonly text: string;
  readonly onChange: (text: string) => void;
  readonly faults: readonly Finding[];
  readonly warnings: readonly Finding[];
}) => (
  <Panel
    title="Manifest"
    about="Providers, Router and transformers, as in the configuration. A stored secret is shown as “••••”."
  >
    <JsonEditor
      label={`Manifest of the preset ${name}`}
      value={text}
      onChange={onChange}
      findings={[...faults, ...warnings.map((warning) => ({ ...warning, severity: 'warning' as const }))]}
      maxLines={24}
    />
    <Faults faults={faults} warnings={warnings} />
  </Panel>
);

/** What is wrong in the manifest. */
export const Faults = ({
  faults,
  warnings,
}: {
  readonly faults: readonly Finding[];
  readonly warnings: readonly Finding[];
}) => (
  <>
    {faults.length > 0 && (
      <Notice kind="failed" title="Fix before saving">
        <ul className="preset-faults">
          {faults.map((fault) => (
            <li key={`${fault.path} ${fault.message}`}>
              <code>{fault.path}</code> {fault.message}
            </li>
          ))}
        </ul>
      </Notice>
    )}
    {warnings.map((warning) => (
      <Notice key={`${warning.path} ${warning.message}`} kind="warn">
        <code>{warning.path}</code> {warning.message}
      </Notice>
    ))}
  </>
);

/** What the preset changes in the configuration. */
export const ChangesPanel = ({
  config,
  manifest,
}: {
  readonly config: ConfigFile | undefined;
  readonly manifest: ConfigFile | undefined;
}) => (
  <Panel title="Changes" about="The configuration, compared with what requests to this preset use.">
    {config && manifest ? (
      <Diff
        label="Compared with config.json"
        before={printHidden(config)}
        after={printHidden(mergePreset(config, manifest))}
      />
    ) : (
      <p className="soft">Shown once the manifest is valid JSON.</p>
    )}
  </Panel>
);

export const AddressPanel = ({ name }: { readonly name: string }) => (
  <Panel title="Address" about="Use it as a client’s base URL, with /v1 if the client needs that.">
    <CodeBlock label="Base URL" text={presetUrl(name)} />
    <CodeBlock label="With /v1" text={`${presetUrl(name)}/v1`} />
    <p>
      <a href={`${href('/clients')}?${new URLSearchParams({ preset: name })}`}>Set up a client for this preset</a>
    </p>
  </Panel>
);

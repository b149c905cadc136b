import { protocolTitles } from '../../api/protocols.ts';
import { CodeBlock } from '../../parts/code-block.tsx';
import { CopyButton } from '../../parts/copy-button.tsx';
import { MarkdownLine } from '../../parts/markdown-view.tsx';
import { Panel } from '../../parts/panel.tsx';
import { CheckPanel } from './check-panel.tsx';
import { baseOf, type ClientGuide, type Connection } from './clients/client-guide.ts';
import type { Shell } from './clients/shell.ts';
import { withoutProxy } from './clients/shell.ts';

/** How one program is set up. */
export const GuideView = ({
  guide,
  connection,
  shell,
}: {
  readonly guide: ClientGuide;
  readonly connection: Connection;
  readonly shell: Shell;
}) => {
  const base = baseOf(connection, guide.base);
  return (
    <div className="stack">
      <Panel title={guide.title}>
        <dl className="guide-facts">
          <div>
            <dt>Base URL</dt>
            <dd className="row">
              <code>{base}</code>
              <CopyButton text={base} />
            </dd>
          </div>
          <div>
            <dt>Address</dt>
            <dd>{guide.base === 'with /v1' ? 'ends in /v1' : 'without /v1, which it adds itself'}</dd>
          </div>
          <div>
            <dt>Speaks</dt>
            <dd>{protocolTitles[guide.protocol]}</dd>
          </div>
        </dl>
        {guide.snippets(connection, shell).map(({ label, text }) => (
          <CodeBlock key={label} label={label} text={text} />
        ))}
        <ul className="guide-notes">
          {guide.notes.map((note) => (
            <li key={note}>
              <MarkdownLine text={note} />
            </li>
          ))}
        </ul>
        <details className="guide-proxy">
          <summary>Behind a proxy, or no answer at all?</summary>
          <div className="stack-tight">
            <p className="soft">
              A proxy that HTTP_PROXY names cannot reach this machine for the program. This keeps such calls off it:
            </p>
            <CodeBlock label="Past the proxy" text={withoutProxy(shell, new URL(connection.origin).hostname)} />
            <p className="soft">
              Where localhost leads to another program, write 127.0.0.1. From another machine or a container the gateway
              is only reached when HOST and APIKEY are set.
            </p>
          </div>
        </details>
      </Panel>
      <CheckPanel guide={guide} model={connection.model} />
    </div>
  );
};

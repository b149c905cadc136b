import { protocolTitles } from '../../api/protocols.ts';
import { Described } from '../../config/fields/described.tsx';
import { CopyButton } from '../../parts/controls/copy-button.tsx';
import { Panel } from '../../parts/layout/panel.tsx';
import { CodeBlock } from '../../parts/text/code-block.tsx';
import { CheckPanel } from './check-panel.tsx';
import { baseOf, type ClientGuide, type Connection } from './clients/client-guide.ts';
import type { Shell } from './clients/shell.ts';
import { withoutProxy } from './clients/shell.ts';

/** The setup guide of one client. */
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
            <dt>Base path</dt>
            <dd>{guide.base === 'with /v1' ? 'ends in /v1' : 'without /v1: the client appends it'}</dd>
          </div>
          <div>
            <dt>Protocol</dt>
            <dd>{protocolTitles[guide.protocol]}</dd>
          </div>
        </dl>
        {guide.snippets(connection, shell).map(({ label, text }) => (
          <CodeBlock key={label} label={label} text={text} />
        ))}
        <ul className="guide-notes">
          {guide.notes.map((note) => (
            <li key={note}>
              <Described text={note} />
            </li>
          ))}
        </ul>
        <details className="guide-proxy">
          <summary>Behind a proxy, or cannot connect?</summary>
          <div className="stack-tight">
            <p className="soft">
              A proxy set in HTTP_PROXY cannot reach this machine. Exclude local addresses from it:
            </p>
            <CodeBlock label="Bypass the proxy" text={withoutProxy(shell, new URL(connection.origin).hostname)} />
            <p className="soft">
              If localhost resolves to another program, use 127.0.0.1. Other machines and containers can reach the
              gateway only if HOST and APIKEY are set.
            </p>
          </div>
        </details>
      </Panel>
      <CheckPanel guide={guide} connection={connection} />
    </div>
  );
};

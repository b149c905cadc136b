import type { Capture } from '../../api/requests.ts';
import { CodeBlock } from '../../parts/code-block.tsx';
import { Notice } from '../../parts/notice.tsx';
import { Panel } from '../../parts/panel.tsx';
import { StatusBadge } from '../../parts/status-badge.tsx';

/** Both calls as they were made: their headers, and commands that make them once more. */
export const CallsView = ({ capture: { client, upstream, reply, curl } }: { readonly capture: Capture }) => (
  <div className="bodies">
    <Panel title="The client’s call" about={`${client.method} ${client.path}`}>
      <Headers title="It sent" headers={client.headers} />
      <Headers title="It got" status={reply.status} headers={reply.headers} />
      <CodeBlock label="The same with curl" text={curl.client} />
    </Panel>
    <Panel title="The call to the provider" about={upstream ? `${upstream.method} ${upstream.url}` : undefined}>
      {upstream ? (
        <>
          {upstream.fault && <Notice kind="failed">{upstream.fault.message}</Notice>}
          {upstream.ended === 'abandoned' && <Notice>The client left, so the call was ended.</Notice>}
          <Headers title="The gateway sent" headers={upstream.headers} />
          {upstream.status !== null && (
            <Headers title="It got" status={upstream.status} headers={upstream.responseHeaders} />
          )}
          {curl.upstream !== null && <CodeBlock label="The same with curl" text={curl.upstream} />}
        </>
      ) : (
        <p className="soft">No call was made.</p>
      )}
    </Panel>
  </div>
);

const Headers = ({
  title,
  status,
  headers,
}: {
  readonly title: string;
  readonly status?: number;
  readonly headers: Readonly<Record<string, string>>;
}) => (
  <section className="stack-tight">
    <h3>
      {title} {status !== undefined && <StatusBadge status={status} />}
    </h3>
    <dl className="headers">
      {Object.entries(headers).map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  </section>
);

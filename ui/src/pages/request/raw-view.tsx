import { pretty } from '../../api/json.ts';
import type { Capture } from '../../api/requests/requests.ts';
import { Fold } from '../../parts/layout/fold.tsx';
import { Notice } from '../../parts/layout/notice.tsx';
import { Panel } from '../../parts/layout/panel.tsx';
import { CodeBlock } from '../../parts/text/code-block.tsx';
import { Pairs } from '../../parts/text/pairs.tsx';
import { StatusBadge } from '../../parts/text/status-badge.tsx';

/** Both calls as they were: headers, bodies, and curl commands that repeat them. */
export const RawView = ({ capture: { client, upstream, reply, curl } }: { readonly capture: Capture }) => (
  <>
    <Panel title="Client request" about={`${client.method} ${client.path}`}>
      <Headers title="Request headers" headers={client.headers} />
      <Headers title="Response headers" status={reply.status} headers={reply.headers} />
      <Fold title="Body">
        <CodeBlock label={client.truncated ? 'Body, truncated' : 'Body'} text={pretty(client.body)} />
      </Fold>
      <CodeBlock label="As a curl command" text={curl.client} />
    </Panel>
    <Panel title="Provider request" about={upstream ? `${upstream.method} ${upstream.url}` : undefined}>
      {upstream ? (
        <>
          {upstream.fault && <Notice kind="failed">{upstream.fault.message}</Notice>}
          {upstream.ended === 'abandoned' && <Notice>Aborted because the client disconnected.</Notice>}
          <Headers title="Request headers" headers={upstream.headers} />
          {upstream.status !== null && (
            <Headers title="Response headers" status={upstream.status} headers={upstream.responseHeaders} />
          )}
          <Fold title="Body">
            <CodeBlock label={upstream.bodyTruncated ? 'Body, truncated' : 'Body'} text={pretty(upstream.body)} />
          </Fold>
          {curl.upstream !== null && <CodeBlock label="As a curl command" text={curl.upstream} />}
        </>
      ) : (
        <p className="soft">No provider was called.</p>
      )}
    </Panel>
  </>
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
    <Pairs pairs={Object.entries(headers)} />
  </section>
);

import { useMemo } from 'react';
import { hasFailed } from '../../api/requests/summary.ts';
import { useFeed } from '../../api/requests/use-feed.ts';
import { takeRequests, useRecentRequests } from '../../api/requests/use-recent-requests.ts';
import { useForm } from '../../config/fields/form.ts';
import { useWanted } from '../../config/fields/wanted-field.ts';
import { Button } from '../../parts/controls/button.tsx';
import { Split } from '../../parts/layout/split.tsx';
import { changeQuery, route } from '../../router/route.ts';
import { useStore } from '../../state/store.ts';
import { RoutingDrawing } from './drawing/routing-drawing.tsx';
import { graphOf, wayOf } from './drawing/routing-graph.ts';
import { nodeOfField } from './edit-routing.ts';
import { NodeEditor } from './node-editor.tsx';
import { TryRequest } from './try-request.tsx';
import { useRoutingConfig, useRoutingLists } from './use-routing-config.ts';
import { useTrial } from './use-trial.ts';

const none: readonly never[] = [];

/** The routing as a drawing: what is chosen in it is edited beside it, and what is tried is lit in it. */
export const RoutingEditor = ({ preset }: { readonly preset?: string }) => {
  const { transformers } = useForm();
  const config = useRoutingConfig();
  const feed = useFeed({ topics: 'requests' }, (event) => {
    if (event.type === 'requests') takeRequests(event.data);
  });
  const list = useRecentRequests(feed === 'missing' ? 'poll' : 'feed').data?.requests ?? none;
  const requests = useMemo(
    () => list.flatMap((one) => (one.preset === preset ? [{ ...one, failed: hasFailed(one) }] : [])),
    [list, preset],
  );
  const graph = useMemo(() => graphOf(config, transformers, requests), [config, transformers, requests]);
  const trial = useTrial(preset, list);
  const { explanation } = trial.outcome ?? {};
  const lit = useMemo(() => explanation && wayOf(config, graph, explanation), [config, graph, explanation]);
  const chosen = useStore(route).query.get('at') ?? undefined;
  const choose = (id: string | undefined): void => changeQuery({ at: id ?? '' });
  useWanted(['Router', 'fallback', 'Pools', 'transformers'], (path) => choose(nodeOfField(path) ?? chosen));
  const { rules, pools, stages, set } = useRoutingLists();
  const move = (id: string, by: 1 | -1): void => {
    const [kind, at] = id.split('/');
    const [from, to] = [Number(at), Number(at) + by];
    const rule = kind === 'rule' ? rules[from] : undefined;
    if (!rule || to < 0 || to >= rules.length) return;
    set('rules', rules.toSpliced(from, 1).toSpliced(to, 0, rule));
    if (chosen === id) choose(`rule/${to}`);
  };
  // A stage in the drawing stands for all stages of its destination; they are one list.
  const shown = chosen?.startsWith('stages') ? 'stages' : chosen;
  const hasModule = config.Router?.module !== undefined;
  return (
    <Split
      name="routing"
      label="What is chosen"
      side={
        shown !== undefined && (
          <NodeEditor id={shown} node={graph.nodes.find(({ id }) => id === shown)} trial={trial} onChoose={choose} />
        )
      }
    >
      <div className="routing-main">
        <div className="row">
          <Button
            icon="add"
            data-path="Router.rules"
            onClick={() => {
              set('rules', [...rules, { name: '', when: {}, to: '' }]);
              choose(`rule/${rules.length}`);
            }}
          >
            Add a rule
          </Button>
          <Button
            icon="add"
            data-path="Pools"
            onClick={() => {
              set('pools', [...pools, { name: '', members: [{ to: '' }] }]);
              choose(`pool/${pools.length}`);
            }}
          >
            Add a pool
          </Button>
          <Button onClick={() => choose('stages')}>
            {stages.length === 0 ? 'Stages' : `Stages (${stages.length})`}
          </Button>
          {!hasModule && (
            <Button look="quiet" onClick={() => choose('module')}>
              Router module
            </Button>
          )}
        </div>
        <RoutingDrawing
          graph={graph}
          chosen={chosen}
          way={lit?.way}
          aside={lit?.aside}
          onChoose={(id) => choose(id === chosen ? undefined : id)}
          onMove={move}
        />
        <TryRequest trial={trial} />
      </div>
    </Split>
  );
};

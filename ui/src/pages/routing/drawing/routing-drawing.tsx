import { type KeyboardEvent, useRef, useState } from 'react';
import { isFailing } from '../../../api/requests/requests.ts';
import { count, counted } from '../../../format/figures.ts';
import { classNames } from '../../../parts/class-names.ts';
import { useWidth } from '../../../parts/layout/use-width.ts';
import './routing-drawing.css';
import { layOut, neighbourOf, type PlacedNode } from './lay-out.ts';
import { relatedTo } from './related.ts';
import type { RoutingGraph } from './routing-graph.ts';

const titles = { client: 'Clients', rule: 'Rules', stage: 'Stages', destination: 'Destinations' } as const;

/** The width of a way in pixels: without traffic, and what all of it adds. */
const thin = 1.5;
const thickness = 5;

/** The routing as a drawing. Each node can be chosen; arrow keys lead from one to the next. */
export const RoutingDrawing = ({
  graph,
  chosen,
  way,
  aside,
  onChoose,
  onMove,
}: {
  readonly graph: RoutingGraph;
  /** The node that is edited. */
  readonly chosen: string | undefined;
  /** What the tried request passes, and who is asked if that fails; absent: none was tried. */
  readonly way?: ReadonlySet<string> | undefined;
  readonly aside?: ReadonlySet<string> | undefined;
  readonly onChoose: (id: string) => void;
  /** Alt and an arrow key. */
  readonly onMove: (id: string, by: 1 | -1) => void;
}) => {
  const [room, width] = useWidth();
  const box = useRef<HTMLDivElement>(null);
  const drawing = layOut(graph, width);
  const [pointed, setPointed] = useState<string>();
  const related = pointed === undefined ? undefined : relatedTo(graph, pointed);
  const isDim = (...ids: readonly (string | undefined)[]): boolean =>
    related !== undefined && ids.some((id) => id !== undefined && !related.has(id));
  const first = drawing.nodes.find(({ column }) => column === 'rule')?.id;
  const stop = drawing.nodes.some(({ id }) => id === chosen) ? chosen : first;
  const onKeyDown = (event: KeyboardEvent): void => {
    const id = event.target instanceof HTMLElement ? event.target.dataset.node : undefined;
    if (id === undefined) return;
    const by = { ArrowUp: -1, ArrowDown: 1 }[event.key];
    if (event.altKey && (by === 1 || by === -1)) {
      event.preventDefault();
      onMove(id, by);
      return;
    }
    const next = neighbourOf(drawing, id, event.key);
    if (next === undefined) return;
    event.preventDefault();
    const found = [...(box.current?.querySelectorAll<HTMLElement>('[data-node]') ?? [])];
    found.find(({ dataset }) => dataset.node === next)?.focus();
  };
  const isLit = (id: string): boolean => way?.has(id) === true;
  return (
    <div ref={room} className="routing-room">
      {/* biome-ignore lint/a11y/useSemanticElements: the nodes are no fields */}
      <div
        ref={box}
        className={classNames('routing-drawing', way && 'routing-tried')}
        role="group"
        aria-label="Drawing of the rules and destinations"
        style={{ width: drawing.width, height: drawing.height }}
        onKeyDown={onKeyDown}
      >
        <svg width={drawing.width} height={drawing.height} aria-hidden="true">
          {drawing.links
            .toSorted(
              (one, other) => Number(isLit(one.from) && isLit(one.to)) - Number(isLit(other.from) && isLit(other.to)),
            )
            .map(({ from, to, path, share, isFallback, isAsk, row }) => (
              <path
                key={`${from} ${to} ${row} ${isAsk ?? false}`}
                d={path}
                className={classNames(
                  isDim(from, to, row) && 'routing-dim',
                  isFallback && 'routing-fallback',
                  isAsk && 'routing-ask',
                  share > 0 && 'routing-live',
                  isLit(from) && isLit(to) && !isFallback && !isAsk && 'routing-way',
                  isLit(from) && aside?.has(to) && 'routing-aside',
                )}
                style={{ strokeWidth: thin + thickness * share }}
              />
            ))}
        </svg>
        {drawing.frames.map(({ id, x, y, width: itsWidth, height }) => (
          <span
            key={id}
            className={classNames('routing-frame', isDim(id) && 'routing-dim')}
            aria-hidden="true"
            style={{ insetInlineStart: x, insetBlockStart: y, width: itsWidth, height }}
          />
        ))}
        {drawing.heads.map(({ column, x, y, width: itsWidth }) => (
          <span
            key={column}
            className="routing-head"
            aria-hidden="true"
            style={{ insetInlineStart: x, insetBlockStart: y, width: itsWidth }}
          >
            {titles[column]}
          </span>
        ))}
        {drawing.nodes.map((node) => (
          <NodeButton
            key={node.id}
            node={node}
            total={graph.total}
            isChosen={node.id === chosen}
            isStop={node.id === stop}
            look={classNames(
              isLit(node.id) ? 'routing-lit' : aside?.has(node.id) && 'routing-next',
              isDim(node.id) && 'routing-dim',
            )}
            onChoose={onChoose}
            onPoint={setPointed}
          />
        ))}
      </div>
      <Legend graph={graph} />
    </div>
  );
};

/** Says what lines and colours mean, of those that are drawn. */
const Legend = ({ graph: { links, nodes, total } }: { readonly graph: RoutingGraph }) => (
  <ul className="bare row routing-legend">
    {total > 0 && <li>% of the latest {counted(total, 'request')}</li>}
    {nodes.some(isFailing) && <li className="routing-failing">% a quarter of them or more failed</li>}
    {links.some(({ isFallback }) => isFallback) && <li className="routing-key-fallback">if the first fails</li>}
    {links.some(({ isAsk }) => isAsk) && <li className="routing-key-ask">may ask</li>}
  </ul>
);

const NodeButton = ({
  node,
  total,
  isChosen,
  isStop,
  look,
  onChoose,
  onPoint,
}: {
  readonly node: PlacedNode;
  readonly total: number;
  readonly isChosen: boolean;
  readonly isStop: boolean;
  readonly look: string;
  readonly onChoose: (id: string) => void;
  /** The pointer is over it; `undefined`: no longer. */
  readonly onPoint: (id: string | undefined) => void;
}) => {
  const { id, column, title, about, requests, failed, state, x, y, width, height } = node;
  const share = total > 0 && requests > 0 ? `${count(Math.max(1, Math.round((requests * 100) / total)))} %` : '';
  const traffic =
    requests === 0 ? '' : `${counted(requests, 'request')}${failed > 0 ? `, ${count(failed)} failed` : ''}`;
  return (
    <button
      type="button"
      data-node={id}
      className={classNames('routing-node', `routing-${column}`, state && `routing-${state}`, look)}
      style={{ insetInlineStart: x, insetBlockStart: y, width, height }}
      tabIndex={isStop ? 0 : -1}
      aria-pressed={isChosen}
      title={[title, about, traffic].filter(Boolean).join('\n')}
      onClick={() => onChoose(id)}
      onPointerEnter={() => onPoint(id)}
      onPointerLeave={() => onPoint(undefined)}
    >
      <span className="routing-title">
        <span className="cut">{title}</span>
        {share !== '' && (
          <span className={classNames('routing-share', isFailing(node) && 'routing-failing')}>{share}</span>
        )}
      </span>
      {column !== 'stage' && column !== 'client' && <span className="routing-about cut">{about}</span>}
    </button>
  );
};

import {
  type Edge,
  EdgeLabelRenderer,
  type EdgeProps,
  Handle,
  type Node,
  type NodeProps,
  Position,
  ReactFlow,
  useReactFlow,
} from '@xyflow/react';
import { useMemo } from 'react';
import { Button } from '../../../parts/controls/button.tsx';
import { classNames } from '../../../parts/text/class-names.ts';
import './drawing.css';
import type { Drawing, Point, Station, Track } from './drawing-parts.ts';

type StationNode = Node<Station & Record<string, unknown>, 'station'>;
type TrackEdge = Edge<Track & Record<string, unknown>, 'track'>;

/** The height from which a drawing is shown in a window of that height, in pixels. On phones, dragging is for the page. */
const mostHeight = (width: number): number => (width < 640 ? 2_000 : 640);

/** Renders a drawing; stations with a target are links. One that is higher than its window can be moved and zoomed. */
export const LineDrawing = ({ drawing, label }: { readonly drawing: Drawing; readonly label: string }) => {
  const nodes = useMemo(() => drawing.stations.map(toNode), [drawing]);
  const edges = useMemo(() => drawing.tracks.map(toEdge), [drawing]);
  const { width, height } = drawing;
  const most = mostHeight(width);
  const isLarge = height > most;
  return (
    <figure
      className={classNames('drawing', isLarge && 'drawing-large')}
      aria-label={label}
      style={{ width, height: Math.min(height, most) }}
    >
      <ReactFlow<StationNode, TrackEdge>
        key={isLarge ? 'large' : 'small'}
        nodes={nodes}
        edges={edges}
        nodeTypes={nodeTypes}
        edgeTypes={edgeTypes}
        {...(isLarge ? { fitView: true, fitViewOptions: readable, minZoom: 0.2, maxZoom: 1.5 } : { viewport: still })}
        nodesDraggable={false}
        nodesConnectable={false}
        nodesFocusable={false}
        edgesFocusable={false}
        elementsSelectable={false}
        disableKeyboardA11y
        panOnDrag={isLarge}
        zoomOnScroll={false}
        zoomOnPinch={isLarge}
        zoomOnDoubleClick={false}
        preventScrolling={false}
        proOptions={{ hideAttribution: true }}
      >
        {isLarge && <ZoomButtons />}
      </ReactFlow>
    </figure>
  );
};

const ZoomButtons = () => {
  const { zoomIn, zoomOut, fitView } = useReactFlow();
  return (
    <div className="drawing-zoom">
      <Button onClick={() => void zoomOut()}>
        <span aria-hidden="true">−</span>
        <span className="unseen">Zoom out</span>
      </Button>
      <Button onClick={() => void zoomIn()}>
        <span aria-hidden="true">+</span>
        <span className="unseen">Zoom in</span>
      </Button>
      <Button onClick={() => void fitView()}>Fit</Button>
    </div>
  );
};

/** At first, names can be read: the middle is shown, if all is too high. */
const readable = { minZoom: 0.75 };

const still = { x: 0, y: 0, zoom: 1 };

const toNode = (station: Station): StationNode => ({
  id: station.id,
  type: 'station',
  position: { x: station.x, y: station.y },
  width: station.width,
  height: station.height,
  // Set here, so that tracks don't wait for the browser to measure on each redraw.
  measured: { width: station.width, height: station.height },
  handles: [
    { type: 'target', position: Position.Left, x: 0, y: station.height / 2 },
    { type: 'source', position: Position.Right, x: station.width, y: station.height / 2 },
  ],
  data: { ...station },
});

const toEdge = (track: Track): TrackEdge => ({
  id: track.id,
  type: 'track',
  source: track.from,
  target: track.to,
  data: { ...track },
});

const StationBox = ({ data }: NodeProps<StationNode>) => {
  const { kind, title, about, tone, pulse = false, to, picked = false, dim = false, labels = [], times = [] } = data;
  const className = classNames('station', `station-${kind}`, picked && 'station-picked', dim && 'station-dim');
  const content = (
    <>
      <span className="station-title">
        {(tone || pulse) && (
          <span
            className={classNames('signal', `signal-${tone ?? 'accent'}`, pulse && 'signal-pulse')}
            aria-hidden="true"
          />
        )}
        <span className="cut">{title}</span>
      </span>
      <span className="station-about cut">{about}</span>
      {labels.length > 0 && <Labels labels={labels} />}
      {times.length > 0 && <Times times={times} />}
    </>
  );
  return (
    <>
      <Handle type="target" position={Position.Left} isConnectable={false} />
      <Handle type="source" position={Position.Right} isConnectable={false} />
      {to === undefined ? (
        <div className={className} title={`${title}: ${about}`}>
          {content}
        </div>
      ) : (
        <a className={className} href={to} title={`${title}: ${about}`} aria-current={picked || undefined}>
          {content}
        </a>
      )}
    </>
  );
};

const TrackLine = ({ data }: EdgeProps<TrackEdge>) => {
  if (!data) return null;
  const { points, look, width, tone, dim = false, labels = [], labelsAt } = data;
  const path = rounded(points);
  return (
    <>
      <path
        className={classNames('track', `track-${look}`, tone && `track-${tone}`, dim && 'track-dim')}
        style={{ strokeWidth: width }}
        d={path}
      />
      {look === 'live' && !dim && <path className="track-run" d={path} />}
      {labelsAt && labels.length > 0 && (
        <EdgeLabelRenderer>
          <div
            className={classNames('track-labels', dim && 'track-dim')}
            style={{ transform: `translate(-50%, -50%) translate(${labelsAt.x}px, ${labelsAt.y}px)` }}
          >
            <Labels labels={labels} />
          </div>
        </EdgeLabelRenderer>
      )}
    </>
  );
};

const Labels = ({ labels }: { readonly labels: NonNullable<Station['labels']> }) => (
  <span className="labels">
    {labels.map(({ text, about, tone }) => (
      <span key={about} className={classNames(tone && `label-${tone}`)} title={about}>
        {text}
      </span>
    ))}
  </span>
);

/** A bar that shows where the time of a request goes. */
const Times = ({ times }: { readonly times: NonNullable<Station['times']> }) => {
  const about = times.map((one) => one.about).join(', ');
  return (
    <span className="times" role="img" aria-label={about} title={about}>
      {times.map(({ part, share }) => (
        <span key={part} className={`times-${part}`} style={{ flexGrow: share }} />
      ))}
    </span>
  );
};

const nodeTypes = { station: StationBox };
const edgeTypes = { track: TrackLine };

/** An SVG path through the points, with rounded corners. */
const rounded = (points: readonly Point[]): string => {
  const [first, ...rest] = points;
  if (!first) return '';
  let path = `M${first.x} ${first.y}`;
  for (const [index, at] of rest.entries()) {
    const before = points[index] ?? at;
    const after = rest[index + 1];
    if (!after) return `${path}L${at.x} ${at.y}`;
    const from = towards(at, before);
    const to = towards(at, after);
    path += `L${from.x} ${from.y}Q${at.x} ${at.y} ${to.x} ${to.y}`;
  }
  return path;
};

const cornerPx = 10;

const towards = (from: Point, to: Point): Point => {
  const length = Math.hypot(to.x - from.x, to.y - from.y);
  const share = length === 0 ? 0 : Math.min(cornerPx, length / 2) / length;
  return { x: from.x + (to.x - from.x) * share, y: from.y + (to.y - from.y) * share };
};

import { columns, type RoutingGraph, type RoutingLink, type RoutingNode } from './routing-graph.ts';

/** A node with its place, in pixels. */
export interface PlacedNode extends RoutingNode {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

/** A link as the path of an SVG. */
interface PlacedLink extends RoutingLink {
  readonly path: string;
}

interface Frame {
  readonly id: string;
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

/** A drawing, in pixels. */
interface Drawing {
  readonly width: number;
  readonly height: number;
  readonly nodes: readonly PlacedNode[];
  readonly links: readonly PlacedLink[];
  /** Boxes of stages around the call, with their destinations in them. */
  readonly frames: readonly Frame[];
  /** The titles of the columns that are drawn, with their places. */
  readonly heads: readonly {
    readonly column: RoutingNode['column'];
    readonly x: number;
    readonly y: number;
    readonly width: number;
  }[];
}

const boxHeight = 36;
const pitch = 44;
const inset = 16;
const clientsHeight = 48;
const headHeight = 24;
/** Between a frame and what is in it; less than half of what is between rows. */
const frameGap = 3;

/** From these widths, there is room for stages, and for clients beside the rules. */
const stagesFrom = 480;
const wideFrom = 680;

/** A wider drawing would be harder to read. */
const mostWidth = 1_240;

type Ways = Pick<RoutingGraph, 'nodes' | 'links'>;

type Columns = Readonly<Partial<Record<RoutingNode['column'], { readonly x: number; readonly width: number }>>>;

const columnsIn = (width: number): Columns => {
  const at = (x: number, part: number) => ({ x: Math.round(width * x), width: Math.floor(width * part) });
  return width < wideFrom
    ? width < stagesFrom
      ? { rule: at(0, 0.44), destination: at(0.56, 0.44) }
      : { rule: at(0, 0.39), stage: at(0.48, 0.14), destination: at(0.635, 0.365) }
    : { client: at(0, 0.14), rule: at(0.19, 0.28), stage: at(0.58, 0.12), destination: at(0.71, 0.29) };
};

/**
 * Places a graph in a width: one column for each step, rows in order. On narrow pages clients stand above the rules, and stages
 * are left out.
 */
export const layOut = ({ nodes, links }: Ways, room: number): Drawing => {
  const width = Math.min(room, mostWidth);
  const places = columnsIn(width);
  const isWide = places.client !== undefined;
  const top = (isWide ? 0 : clientsHeight) + headHeight;
  const rows: Record<RoutingNode['column'], number> = { client: 0, rule: 0, stage: 0, destination: 0 };
  const placed = new Map<string, PlacedNode>();
  const besides = besideRules({ nodes, links });
  const clients = nodes.filter(({ column }) => column === 'client').length;
  const clientWidth = Math.floor((width - (clients - 1) * 8) / Math.max(1, clients));
  const place = (node: RoutingNode, x: number, y: number, itsWidth: number, height = boxHeight): void => {
    placed.set(node.id, { ...node, x, y, width: itsWidth, height });
  };
  for (const node of nodes) {
    if (node.rows) continue;
    const row = besides.get(node.id) ?? rows[node.column];
    rows[node.column] += 1;
    const column = places[node.column];
    if (column) {
      const by = node.inset ? inset : 0;
      place(node, column.x + by, top + row * pitch, column.width - by);
    } else if (node.column === 'client') place(node, row * (clientWidth + 8), 0, clientWidth);
  }
  /** The first and the last destination beside which stages lie. */
  const spanOf = ({ rows: beside }: RoutingNode) => [placed.get(beside?.[0] ?? ''), placed.get(beside?.at(-1) ?? '')];
  for (const node of nodes) {
    const [first, last] = spanOf(node);
    if (first && last && places.stage)
      place(node, places.stage.x, first.y, places.stage.width, last.y + boxHeight - first.y);
  }
  const junction = { x: Math.round(width * 0.165), y: top + boxHeight + pitch / 2 };
  const portOf = (id: string, side: 'left' | 'right', row = id) => {
    const node = placed.get(id);
    const { y, height } = placed.get(row) ?? node ?? { y: 0, height: 0 };
    if (node) return { x: node.x + (side === 'left' ? 0 : node.width), y: y + height / 2 };
    return isWide && id === 'junction' ? junction : undefined;
  };
  const drawn = links.flatMap((link): PlacedLink[] => {
    // Without its column, a stage is part of its destination.
    const to = placed.has(link.to) ? link.to : (link.row ?? link.to);
    const start = portOf(link.from, 'right', link.from.startsWith('stages/') ? link.row : undefined);
    const end = portOf(to, 'left', link.row);
    if (!start || !end || (!isWide && link.from.startsWith('client/'))) return [];
    const middle = (start.x + end.x) / 2;
    return [{ ...link, path: `M${start.x} ${start.y}C${middle} ${start.y} ${middle} ${end.y} ${end.x} ${end.y}` }];
  });
  const most = Math.max(rows.rule, rows.destination, isWide ? rows.client : 0);
  return {
    width,
    height: top + Math.max(1, most) * pitch - (pitch - boxHeight),
    nodes: [...placed.values()].toSorted(
      (one, other) => columns.indexOf(one.column) - columns.indexOf(other.column) || one.y - other.y,
    ),
    links: drawn,
    frames: [...placed.values()].flatMap((stage): Frame[] => {
      const [inside] = stage.isAround ? spanOf(stage) : [];
      if (!inside) return [];
      const [x, right] = [stage.x - frameGap, Math.min(width, inside.x + inside.width + frameGap)];
      return [{ id: stage.id, x, y: stage.y - frameGap, width: right - x, height: stage.height + 2 * frameGap }];
    }),
    heads: columns.flatMap((column) => {
      const at = places[column];
      return at ? [{ column, y: top - headHeight, ...at }] : [];
    }),
  };
};

/** The rows of destinations: each in that of the first rule that leads to it, or below the one before, as far as there is room. */
const besideRules = ({ nodes, links }: Ways): ReadonlyMap<string, number> => {
  const rules = nodes.filter(({ column }) => column === 'rule').map(({ id }) => id);
  const ids = nodes.filter(({ column }) => column === 'destination').map(({ id }) => id);
  const firstRule = (id: string): number =>
    rules.findIndex((rule) =>
      links.some((one) => one.from === rule && !one.isFallback && [one.to, one.row].includes(id)),
    );
  const most = Math.max(rules.length, ids.length);
  let next = 0;
  return new Map(
    ids.map((id, at) => {
      const row = Math.max(next, Math.min(firstRule(id), most - ids.length + at));
      next = row + 1;
      return [id, row] as const;
    }),
  );
};

/** The node that an arrow key leads to: above or below in the column, or the nearest of the next column. */
export const neighbourOf = ({ nodes }: Drawing, id: string, key: string): string | undefined => {
  const from = nodes.find((node) => node.id === id);
  if (!from) return undefined;
  const byY = (list: readonly PlacedNode[]): readonly PlacedNode[] => list.toSorted((one, other) => one.y - other.y);
  const own = byY(nodes.filter(({ column }) => column === from.column));
  const nearest = (list: readonly PlacedNode[]): string | undefined =>
    list.toSorted((one, other) => Math.abs(one.y - from.y) - Math.abs(other.y - from.y))[0]?.id;
  const beside = (step: 1 | -1): string | undefined => {
    for (let at = columns.indexOf(from.column) + step; at >= 0 && at < columns.length; at += step) {
      const found = nearest(nodes.filter(({ column }) => column === columns[at]));
      if (found !== undefined) return found;
    }
    return undefined;
  };
  switch (key) {
    case 'ArrowDown':
      return own[own.indexOf(from) + 1]?.id;
    case 'ArrowUp':
      return own[own.indexOf(from) - 1]?.id;
    case 'ArrowRight':
      return beside(1);
    case 'ArrowLeft':
      return beside(-1);
    case 'Home':
      return own[0]?.id;
    case 'End':
      return own.at(-1)?.id;
    default:
      return undefined;
  }
};

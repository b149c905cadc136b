import type { Tone } from '../../../parts/text/badge.tsx';

/** A point in the drawing, in pixels. */
export interface Point {
  readonly x: number;
  readonly y: number;
}

/** A box on a line. */
export interface Station extends Point {
  readonly id: string;
  readonly width: number;
  readonly height: number;
  readonly kind: 'client' | 'switch' | 'step' | 'stage' | 'upstream';
  readonly title: string;
  /** A short description. */
  readonly about: string;
  readonly tone?: Tone;
  /** A request is in progress here. */
  readonly pulse?: boolean;
  /** The link target, made by `href`. */
  readonly to?: string;
  /** The drawing is filtered by it. */
  readonly picked?: boolean;
  /** The drawing is filtered by something else. */
  readonly dim?: boolean;
  /** How long each part of a request takes there. */
  readonly times?: readonly TimeShare[];
  /** The labels of its track, if the track has no room for them. */
  readonly labels?: readonly Label[];
}

/** A figure that labels a track. */
export interface Label {
  readonly text: string;
  /** The long form, for tooltips and screen readers. */
  readonly about: string;
  readonly tone?: Tone;
}

/** A part of a request's time. */
export interface TimeShare {
  readonly part: 'gateway' | 'wait' | 'stream';
  /** Of the whole, from 0 to 1. */
  readonly share: number;
  /** In words, with its figure. */
  readonly about: string;
}

/** The connection between two stations. */
export interface Track {
  readonly id: string;
  readonly from: string;
  readonly to: string;
  /** The corners; they are rounded. */
  readonly points: readonly Point[];
  readonly look: 'idle' | 'live' | 'closed' | 'aside';
  /** How wide it is, by its volume, in pixels. */
  readonly width?: number;
  /** The health of a track with traffic. */
  readonly tone?: Tone;
  readonly dim?: boolean;
  /** The centre of its labels. */
  readonly labelsAt?: Point;
  readonly labels?: readonly Label[];
}

/** A drawing of one or all lines. */
export interface Drawing {
  readonly width: number;
  readonly height: number;
  readonly stations: readonly Station[];
  readonly tracks: readonly Track[];
}

/** A horizontal path that changes level at 45°, or steeper if there is no room. */
export const crossOver = (from: Point, to: Point, middle: number): readonly Point[] => {
  const rise = Math.abs(to.y - from.y);
  if (rise < 1) return [from, to];
  const half = Math.min(rise / 2, middle - from.x - 8, to.x - middle - 8);
  return [from, { x: middle - half, y: from.y }, { x: middle + half, y: to.y }, to];
};

import type { Tone } from '../../parts/badge.tsx';

/** A place on the drawing, in pixels. */
export interface Point {
  readonly x: number;
  readonly y: number;
}

/** Something that a line leads through. */
export interface Station extends Point {
  readonly id: string;
  readonly width: number;
  readonly height: number;
  readonly kind: 'client' | 'switch' | 'step' | 'stage' | 'upstream';
  readonly title: string;
  /** A word on what it does. */
  readonly about: string;
  readonly tone?: Tone;
  /** A request is there right now. */
  readonly pulse?: boolean;
  /** Where it leads; by the address that `href` makes. */
  readonly to?: string;
  /** It is what the drawing is narrowed down to. */
  readonly picked?: boolean;
  /** It isn't. */
  readonly dim?: boolean;
  /** What would be on its track where there is room. */
  readonly marks?: readonly Mark[];
}

/** A figure beside a track. */
export interface Mark {
  readonly text: string;
  /** What it says, for a pointer that rests on it and for screen readers. */
  readonly about: string;
  readonly tone?: Tone;
}

/** A way from one station to the next. */
export interface Track {
  readonly id: string;
  readonly from: string;
  readonly to: string;
  /** Its corners; they are rounded. */
  readonly points: readonly Point[];
  readonly look: 'idle' | 'live' | 'closed' | 'aside';
  readonly dim?: boolean;
  /** Where its figures are: their middle. */
  readonly marksAt?: Point;
  readonly marks?: readonly Mark[];
}

/** A drawing of lines. */
export interface Drawing {
  readonly width: number;
  readonly height: number;
  readonly stations: readonly Station[];
  readonly tracks: readonly Track[];
}

/** A way that runs level, crosses over at 45° (steeper where there is no room) and runs level again. */
export const crossOver = (from: Point, to: Point, middle: number): readonly Point[] => {
  const rise = Math.abs(to.y - from.y);
  if (rise < 1) return [from, to];
  const half = Math.min(rise / 2, middle - from.x - 8, to.x - middle - 8);
  return [from, { x: middle - half, y: from.y }, { x: middle + half, y: to.y }, to];
};

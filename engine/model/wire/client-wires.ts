/** The wire formats that clients use. No imports: the schemas that the web interface takes its types from use this list. */
export const clientWires = ['messages', 'chat', 'responses'] as const;
export type ClientWire = (typeof clientWires)[number];

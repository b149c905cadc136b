import type { Tool } from '../../engine/model/request.ts';

/** A tool as the client knows it. */
export interface CalledTool {
  readonly kind: 'function' | 'custom';
  /** Its name inside its namespace, if it has one. */
  readonly name: string;
  readonly namespace?: string | undefined;
}

/** The client's own word for the tool of this name. One that isn't in the request counts as a function. */
export const calledTool = (tools: readonly Tool[], name: string): CalledTool => {
  const tool = tools.find((one) => (one.type === 'function' || one.type === 'custom') && one.name === name);
  if (tool?.type !== 'function' && tool?.type !== 'custom') return { kind: 'function', name };
  return { kind: tool.type, name: tool.namespace?.local ?? name, namespace: tool.namespace?.name };
};

/** The name under which the request has the tool that goes by `local` in this namespace. */
export const namespacedTool = (tools: readonly Tool[], namespace: string, local: string): string | undefined =>
  tools
    .filter((tool) => tool.type === 'function' || tool.type === 'custom')
    .find((tool) => tool.namespace?.name === namespace && tool.namespace.local === local)?.name;

import type { RouteQuestion } from 'junctor/transformer';

/** Sends requests with many tools or a long prompt to a model that handles them; the rules decide for all others. */
export default async ({ request, tokens }: RouteQuestion) =>
  request.tools.length > 50 || (await tokens()) > 100_000 ? 'google,gemini-4-carbon' : undefined;

import { Type, transformer } from 'junctor/transformer';

/** Puts the house's rules in front of every system prompt, and keeps the temperature down. */
export default transformer({
  name: 'house-rules',
  options: Type.Object({
    rules: Type.String({ minLength: 1 }),
    maxTemperature: Type.Optional(Type.Number({ minimum: 0 })),
  }),
  request(request, { rules, maxTemperature: cap }, losses) {
    const system = [{ type: 'text', text: rules } as const, ...request.system];
    if (cap === undefined || request.temperature === undefined || request.temperature <= cap) {
      return { ...request, system };
    }
    losses.approximate('temperature', `capped at ${cap}`);
    return { ...request, system, temperature: cap };
  },
});

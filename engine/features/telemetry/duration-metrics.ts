import { promptTokens, type Usage } from '../../model/event.ts';
import { Distribution } from '../record/series.ts';
import { attribute, metric, operation, tokenTypes } from './conventions.ts';
import type { Histogram } from './otlp.ts';

/** The destination of an attempt, in values of low cardinality. */
interface MeasuredAttempt {
  /** By the conventions' name. */
  readonly provider: string;
  /** A configured model, or `other`. */
  readonly model: string;
}

const where = [attribute.operation, attribute.provider, attribute.requestModel];

/** The histograms of a process, since its start. A metric has at most 1,000 series. */
export class DurationMetrics {
  readonly #tokens = new Distribution(metric.tokens.bounds);
  readonly #operations = new Distribution(metric.operation.bounds);
  readonly #firstChunks = new Distribution(metric.firstChunk.bounds);
  readonly #requests = new Distribution(metric.request.bounds);

  /** `errorType` is empty for a success. */
  attempt({ provider, model }: MeasuredAttempt, seconds: number, errorType: string): void {
    this.#operations.observe([operation, provider, model, errorType], seconds);
  }

  firstChunk({ provider, model }: MeasuredAttempt, seconds: number): void {
    this.#firstChunks.observe([operation, provider, model], seconds);
  }

  usage({ provider, model }: MeasuredAttempt, usage: Usage): void {
    const input = promptTokens(usage);
    if (input > 0) this.#tokens.observe([operation, provider, model, tokenTypes.input], input);
    if (usage.output !== undefined) {
      this.#tokens.observe([operation, provider, model, tokenTypes.output], usage.output);
    }
  }

  request(method: string, route: string, status: number, errorType: string, seconds: number): void {
    this.#requests.observe([method, route, String(status), errorType], seconds);
  }

  all(): readonly Histogram[] {
    return [
      { ...metric.tokens, attributeNames: [...where, attribute.tokenType], observed: this.#tokens },
      { ...metric.operation, attributeNames: [...where, attribute.errorType], observed: this.#operations },
      { ...metric.firstChunk, attributeNames: where, observed: this.#firstChunks },
      {
        ...metric.request,
        attributeNames: [attribute.method, attribute.route, attribute.status, attribute.errorType],
        observed: this.#requests,
      },
    ];
  }
}

import { answerQuestions } from '../rpc.ts';
import type { LoadJob, LoadResult } from './job.ts';
import { runJob } from './run-job.ts';

answerQuestions<LoadJob, LoadResult>(runJob);

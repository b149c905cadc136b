import assert from 'node:assert/strict';
import { test } from 'node:test';
import { everyCut, everyLeave, testStage } from 'junctor/testing';
import stage from './mask.ts';

const given = { stage, options: { names: ['Ada'] }, request: 'Who is Ada?', answer: '[[0]] was a countess.' };

test('the model never sees the name, and the client gets it back', async () => {
  const { request, text } = await testStage(given);
  assert.deepEqual(request.after?.turns[0]?.parts, [{ type: 'text', text: 'Who is [[0]]?' }]);
  assert.equal(text, 'Ada was a countess.');
});

test('wherever the answer is cut, the client gets the same', async () => {
  await everyCut(given);
});

test('whenever the client goes, nothing stays behind', async () => {
  await everyLeave(given);
});

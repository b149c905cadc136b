import test from 'ava';
import {
  type ErrorReport,
  isWebPage,
  pageTitle,
  readError,
  readErrorBody,
} from '../../../../engine/model/upstream-error/read-error.ts';

const shapes: readonly (readonly [shape: string, body: unknown, report: Partial<ErrorReport>])[] = [
  [
    'the reference',
    { error: { message: 'm', type: 't', param: 'p', code: 'c' } },
    { message: 'm', type: 't', param: 'p', code: 'c', words: ['c', 't'] },
  ],
  ['a code that is a number', { error: { message: 'm', code: 1210 } }, { code: '1210', words: ['1210'] }],
  ['a status as text', { error: { message: 'm', code: '400' } }, { code: '400', status: 400 }],
  ['an object of its own', { object: 'error', message: 'm', type: 't', code: 400 }, { message: 'm', status: 400 }],
  ['another wrapper', { type: 'error', error: { type: 't', message: 'm' } }, { message: 'm', type: 't', words: ['t'] }],
  [
    'a validator',
    { detail: [{ loc: ['body', 'messages', 0], msg: 'field required', type: 'value_error.missing' }] },
    { message: 'body.messages.0: field required', type: 'value_error.missing' },
  ],
  [
    'several faults of a validator',
    {
      detail: [
        { loc: ['a'], msg: 'x' },
        { loc: ['b'], msg: 'y' },
      ],
    },
    { message: 'a: x; b: y' },
  ],
  ['a detail', { detail: 'm' }, { message: 'm' }],
  ['a detail with an error', { detail: { error: 'm' } }, { message: 'm' }],
  [
    'a list of errors',
    { success: false, errors: [{ code: 10000, message: 'm' }], result: null },
    { message: 'm', code: '10000' },
  ],
  ['a list of texts', { errors: ['m', 'n'] }, { message: 'm; n' }],
  ['a capital letter', { Message: 'm' }, { message: 'm' }],
  ['a base_resp', { choices: null, base_resp: { status_code: 1004, status_msg: 'm' } }, { message: 'm', code: '1004' }],
  ['error_msg', { error_code: 17, error_msg: 'm' }, { message: 'm' }],
  ['a text as error', { error: 'm' }, { message: 'm' }],
  ['a status in brackets', { error: { message: '<400> Code: m' } }, { message: '<400> Code: m' }],
  ['a page in an error', { error: { message: '<html><title>Bad</title></html>' } }, { message: '' }],
  ['a text as error and a code', { code: 'c', error: 'm' }, { message: 'm', code: 'c' }],
  [
    'a status in words, with the words behind it',
    { error: 'Bad Request', message: 'm', statusCode: 400 },
    { message: 'm', status: 400 },
  ],
  [
    'a message that is an object',
    { object: 'error', message: { detail: [{ loc: ['body'], msg: 'm' }] } },
    { message: 'body: m' },
  ],
  [
    'a flat object',
    { message: 'm', type: 't', param: 'p', code: 'c' },
    { message: 'm', type: 't', param: 'p', code: 'c' },
  ],
  ['the vendor’s native form', { code: 'c', message: 'm', request_id: 'r' }, { message: 'm', code: 'c' }],
  ['a code and a msg', { code: 1113, msg: 'm' }, { message: 'm', code: '1113' }],
  ['a list', [{ error: { code: 400, message: 'm', status: 'INVALID_ARGUMENT' } }], { message: 'm', status: 400 }],
  ['an id beside the error', { id: 'x', error: { message: 'm' } }, { message: 'm' }],
  ['an inner error', { error: { code: 'c', message: 'm', innererror: { code: 'd' } } }, { message: 'm', code: 'c' }],
  ['JSON inside a text', { error: { message: '{"error":{"message":"m","type":"t"}}' } }, { message: 'm', type: 't' }],
  ['the words of the host behind', { error: { message: 'a', metadata: { raw: 'b' } } }, { message: 'a: b' }],
  ['a stack trace', { error: { message: 'm\n    at f (/srv/a.js:1:2)' } }, { message: 'm' }],
  ['a key in the words', { error: { message: 'key sk-abcdefghijk failed' } }, { message: 'key *** failed' }],
  ['nothing', {}, { message: '', words: [], code: undefined, status: undefined }],
  ['null', null, { message: '' }],
];

for (const [shape, body, report] of shapes) {
  test(`the words of an error: ${shape}`, (t) => {
    t.like(readError(body), report);
    t.like(readErrorBody(JSON.stringify(body)), report);
  });
}

test('a body that is no JSON, or JSON without known members, is shown itself, up to a limit', (t) => {
  t.is(readErrorBody(' Bad Request\n').message, 'Bad Request');
  t.is(readErrorBody('{"why":"no idea"}').message, '{"why":"no idea"}');
  t.is(readErrorBody(JSON.stringify({ why: 'x'.repeat(2000) })).message.length, 500);
  t.is(readErrorBody('{"why":"Bearer abcdefgh"}').message.includes('abcdefgh'), false);
  for (const body of [
    '',
    'null',
    '[]',
    '{}',
    '{"error":""}',
    '{"code":"c","type":"t"}',
    '<b>x</b>',
    '{"error":"<html>"}',
  ]) {
    t.is(readErrorBody(body).message, '', body);
  }
});

test('an error of any depth and size is read in bounds', (t) => {
  const deep = `${'{"error":'.repeat(2000)}"m"${'}'.repeat(2000)}`;
  t.is(readErrorBody(deep).message, '');
  t.true(readError({ errors: Array.from({ length: 1000 }, () => 'x'.repeat(20_000)) }).message.length <= 16_384);
});

test('a web page is recognized, and its title', (t) => {
  for (const page of ['<!DOCTYPE html><html>', '  <html lang="en">', '<HEAD>']) t.true(isWebPage('', page), page);
  t.true(isWebPage('text/html; charset=UTF-8', 'x'));
  for (const other of ['{"error":"<html>"}', '<?xml version="1.0"?><Error>', '<headline>', '']) {
    t.false(isWebPage('application/json', other), other);
  }
  t.is(pageTitle('<html><head><title>Just a\n moment...</title>'), 'Just a moment...');
  t.is(pageTitle('<html>'), '');
  t.is(pageTitle('<title>never ends'), '');
});

// The grammar of the statements of spark-zorder. A text that does not fit goes to the next parser.
// The tokens only have to find the ends of our own clauses: predicates and queries are cut out as
// text, for Spark's parser. Words are in capitals here, in any case in a text: UpperCaseStream.
grammar ZOrderSql;

singleStatement
    : statement SEMICOLON* EOF
    ;

statement
    : OPTIMIZE TABLE? target FULL? join* (WHERE predicate)? layout? optionList? (DRY RUN)?      #optimize
    | CREATE (OR REPLACE)? SKIPPING INDEX ON target
      ('(' (STAR ',')? indexColumn (',' indexColumn)* ')')?                              #createSkippingIndex
    | REFRESH SKIPPING INDEX ON target                                                   #refreshSkippingIndex
    | DROP SKIPPING INDEX ON target                                                      #dropSkippingIndex
    | CLEAR SKIPPING MEMORY ON target                                                    #clearSkippingMemory
    | (DESCRIBE | DESC) SKIPPING INDEX ON target ('(' column (',' column)* ')')?         #describeSkippingIndex
    | (DESCRIBE | DESC) CLUSTERING target ('(' column (',' column)* ')')?                #describeClustering
    | (DESCRIBE | DESC) HISTORY target                                                   #describeHistory
    | (DESCRIBE | DESC) DETAIL target                                                    #describeDetail
    | SHOW CLUSTERING ((IN | FROM) identifier ('.' identifier)*)?                          #showClustering
    | SHOW OPERATIONS                                                                      #showOperations
    | EXPLAIN SKIPPING (FILES | ANALYZE)? query                                             #explainSkipping
    | RESTORE TABLE? target TO (VERSION AS OF INTEGER | TIMESTAMP AS OF time=STRING)
      optionList?                                                                        #restore
    | VACUUM target (RETAIN number (HOUR | HOURS | DAY | DAYS))? (DRY RUN)?              #vacuum
    ;

target
    : path=STRING
    | identifier ('.' identifier)*
    ;

join
    : JOIN dimension ON left=column '=' right=column
    ;

dimension
    : identifier ('.' identifier)*
    ;

layout
    : ZORDER BY AUTO                                                                     #zorderByAuto
    | (ZORDER | HILBERT | ORDER) BY ('(' layoutColumn (',' layoutColumn)* ')' | layoutColumn (',' layoutColumn)*)   #layoutBy
    ;

layoutColumn
    : column (WEIGHT weight)?
    ;

column
    : identifier ('.' identifier)*
    ;

indexColumn
    : column kind=(VALUES | BLOOM)?
    ;

optionList
    : OPTIONS '(' (option (',' option)*)? ')'
    ;

option
    : key=optionKey '=' value=optionValue
    ;

optionKey
    : STRING
    | identifier (('-' | '.') identifier)*
    ;

optionValue
    : STRING
    | '-'? number
    | TRUE
    | FALSE
    ;

// A negative one is refused with a sentence.
weight
    : '-'? number
    ;

number
    : INTEGER
    | DECIMAL
    ;

predicate : anyToken+? ;
query : anyToken+ ;

anyToken : ~SEMICOLON ;

identifier
    : IDENTIFIER
    | BACKQUOTED
    | nonReserved
    ;

nonReserved
    : OPTIMIZE | FULL | FILES | WEIGHT | OPTIONS | SKIPPING | INDEX | CLUSTERING | HISTORY | RESTORE | VACUUM | RETAIN
    | HOUR | HOURS | DAY | DAYS | DETAIL | TIMESTAMP | DRY | RUN | VERSION | AUTO | ZORDER | HILBERT | REPLACE | REFRESH | DESC | DESCRIBE | EXPLAIN | OF | TABLE | TRUE | FALSE
    | VALUES | BLOOM
    | ANALYZE | SHOW | OPERATIONS | IN | FROM | CLEAR | MEMORY
    | CREATE | DROP | BY | AS | OR | ON | ORDER | TO | JOIN
    ;

ANALYZE: 'ANALYZE'; AS: 'AS'; AUTO: 'AUTO'; BLOOM: 'BLOOM'; BY: 'BY'; CLEAR: 'CLEAR'; CLUSTERING: 'CLUSTERING'; CREATE: 'CREATE'; DAY: 'DAY'; DAYS: 'DAYS'; DESC: 'DESC';
DESCRIBE: 'DESCRIBE'; DETAIL: 'DETAIL'; DROP: 'DROP';
DRY: 'DRY'; EXPLAIN: 'EXPLAIN'; FALSE: 'FALSE'; FILES: 'FILES'; FROM: 'FROM'; FULL: 'FULL'; HILBERT: 'HILBERT'; HISTORY: 'HISTORY'; HOUR: 'HOUR'; HOURS: 'HOURS';
IN: 'IN'; INDEX: 'INDEX'; JOIN: 'JOIN'; MEMORY: 'MEMORY';
OF: 'OF'; ON: 'ON'; OPTIMIZE: 'OPTIMIZE'; OPERATIONS: 'OPERATIONS'; OPTIONS: 'OPTIONS'; OR: 'OR'; ORDER: 'ORDER'; REFRESH: 'REFRESH';
REPLACE: 'REPLACE'; RESTORE: 'RESTORE'; RETAIN: 'RETAIN'; RUN: 'RUN'; SHOW: 'SHOW'; SKIPPING: 'SKIPPING'; TABLE: 'TABLE'; TIMESTAMP: 'TIMESTAMP';
TO: 'TO'; TRUE: 'TRUE';
VACUUM: 'VACUUM'; VALUES: 'VALUES'; VERSION: 'VERSION'; WEIGHT: 'WEIGHT'; WHERE: 'WHERE'; ZORDER: 'ZORDER';

SEMICOLON: ';';
STAR: '*';

STRING
    : '\'' ( ~('\'' | '\\') | '\\' . | '\'\'' )* '\''
    | '"' ( ~('"' | '\\') | '\\' . | '""' )* '"'
    // A backslash in a raw string stands for itself.
    | 'R' ( '\'' ~'\''* '\'' | '"' ~'"'* '"' )
    ;

INTEGER : DIGIT+ ;
DECIMAL : DIGIT+ '.' DIGIT* | '.' DIGIT+ ;

IDENTIFIER : (LETTER | DIGIT | '_')+ ;
BACKQUOTED : '`' ( ~'`' | '``' )* '`' ;

fragment DIGIT : [0-9] ;
fragment LETTER : [\p{L}] ;

// Comments end where Spark's end: a backslash carries a simple one on to the next line, and a hint is none.
SIMPLE_COMMENT : '--' ('\\\n' | ~[\r\n])* '\r'? '\n'? -> channel(HIDDEN) ;
BRACKETED_COMMENT : '/*' {_input.LA(1) != '+'}? (BRACKETED_COMMENT | .)*? '*/' -> channel(HIDDEN) ;
WS : [ \r\n\t]+ -> channel(HIDDEN) ;

// Operators and anything else inside predicates and queries.
OTHER : . ;

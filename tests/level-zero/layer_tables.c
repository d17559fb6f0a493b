/*
 * The layer without a loader: its writes to the tables that it is given.
 *
 * usage: layer_tables CASE LAYER
 */
#include "ze.h"

#include <dlfcn.h>
#include <stdint.h>

#define NEWEST ZE_MAKE_VERSION(1, 17)
/* Larger than every table. */
#define SLOTS 64

typedef ze_result_t (*get_table)(uint32_t version, void *table);
typedef ze_result_t (*function)(void);

static void *layer;

static void *symbol(const char *name)
{
    void *found = dlsym(layer, name);
    must(found != NULL, name);
    return found;
}

static ze_result_t query(const char *name, uint32_t version, void *table)
{
    return ((get_table)symbol(name))(version, table);
}

static ze_result_t seven(void)
{
    return 7;
}

static ze_result_t eight(void)
{
    return 8;
}

static void fill(function *table, function with)
{
    for (int i = 0; i < SLOTS; i++)
        table[i] = with;
}

static int number_wrapped(const char *name, uint32_t version)
{
    function table[SLOTS];
    int wrapped = 0;
    fill(table, seven);
    done(query(name, version, table), "a table");
    for (int i = 0; i < SLOTS; i++)
        wrapped += table[i] != seven;
    return wrapped;
}

static void no_table(void)
{
    say("context", query("zeGetContextProcAddrTable", NEWEST, NULL));
    say("runtime", query("zerGetGlobalProcAddrTable", NEWEST, NULL));
    say("tracers", query("zelGetTracerApiProcAddrTable", NEWEST, NULL));
    say("version", ((ze_result_t(*)(void *))symbol("zelLoaderGetVersion"))(NULL));
}

/* Written to no further than the version's tables go. */
static void versions(void)
{
    static const uint32_t minors[] = {0, 4, 9, 11, 12, 17};
    for (size_t i = 0; i < LENGTH(minors); i++) {
        uint32_t version = ZE_MAKE_VERSION(1, minors[i]);
        printf("1.%u: %d of CommandList, %d of CommandListExp, %d of KernelExp\n", minors[i],
               number_wrapped("zeGetCommandListProcAddrTable", version),
               number_wrapped("zeGetCommandListExpProcAddrTable", version),
               number_wrapped("zeGetKernelExpProcAddrTable", version));
    }
    printf("of the future: %d of CommandList\n",
           number_wrapped("zeGetCommandListProcAddrTable", ZE_MAKE_VERSION(9, 9)));
}

static void missing_functions(void)
{
    static function table[SLOTS];
    static void *runtime[SLOTS];
    done(query("zeGetContextProcAddrTable", NEWEST, table), "a table");
    say("zeContextCreate", table[0]());
    done(query("zerGetGlobalProcAddrTable", NEWEST, runtime), "a table");
    say("zerGetLastErrorDescription", ((function)runtime[0])());
    printf("zerTranslateDeviceHandleToIdentifier: %#x\n",
           ((uint32_t(*)(void *))runtime[1])(NULL));
    printf("zerTranslateIdentifierToDeviceHandle: %s\n",
           ((void *(*)(uint32_t))runtime[2])(0) ? "another" : "null");
    printf("zerGetDefaultContext: %s\n", ((void *(*)(void))runtime[3])() ? "another" : "null");
}

/* zeContextGetStatus is the table's third. */
static void queries_again(void)
{
    function first[SLOTS], again[SLOTS];
    fill(first, seven);
    fill(again, seven);
    done(query("zeGetContextProcAddrTable", NEWEST, first), "a table");
    done(query("zeGetContextProcAddrTable", NEWEST, again), "a table");
    printf("the same entry: %s, answers %d\n", first[2] == again[2] ? "yes" : "no", again[2]());
    done(query("zeGetContextProcAddrTable", NEWEST, again), "a table");
    printf("of a wrapped table: answers %d\n", again[2]());
    fill(again, eight);
    done(query("zeGetContextProcAddrTable", NEWEST, again), "a table");
    printf("of another callee: answers %d\n", first[2]());
}

struct tracer_functions {
    ze_result_t (*create)(const zel_tracer_desc_t *, zel_tracer_handle_t *);
    ze_result_t (*destroy)(zel_tracer_handle_t);
    ze_result_t (*set_prologues)(zel_tracer_handle_t, zel_core_callbacks_t *);
    ze_result_t (*set_epilogues)(zel_tracer_handle_t, zel_core_callbacks_t *);
    ze_result_t (*set_enabled)(zel_tracer_handle_t, ze_bool_t);
};

static void say_callback(ze_context_get_status_params_t *params, ze_result_t result, void *data,
                         void **instance)
{
    (void)params, (void)data, (void)instance;
    printf("callback, result %d\n", (int)result);
}

/* A tracer with both callbacks of zeContextGetStatus, enabled. */
static zel_tracer_handle_t enable_tracer(const struct tracer_functions *functions)
{
    typedef ze_result_t (*registrar)(zel_tracer_handle_t, zel_tracer_reg_t,
                                     ze_pfnContextGetStatusCb_t);
    zel_tracer_desc_t desc = {.stype = ZEL_STRUCTURE_TYPE_TRACER_EXP_DESC};
    zel_tracer_handle_t tracer;
    registrar add = (registrar)symbol("zelTracerContextGetStatusRegisterCallback");
    done(functions->create(&desc, &tracer), "a tracer");
    done(add(tracer, ZEL_REGISTER_PROLOGUE, say_callback), "to register");
    done(add(tracer, ZEL_REGISTER_EPILOGUE, say_callback), "to register");
    done(functions->set_enabled(tracer, 1), "to enable");
    return tracer;
}

static void missing_functions_traced(void)
{
    struct tracer_functions functions;
    function table[SLOTS] = {seven, seven, NULL};
    done(query("zelGetTracerApiProcAddrTable", NEWEST, &functions), "the tracers' table");
    done(query("zeGetContextProcAddrTable", ZE_API_VERSION_1_0, table), "a table");
    enable_tracer(&functions);
    say("without a callee", table[2]());
    table[2] = seven;
    done(query("zeGetContextProcAddrTable", ZE_API_VERSION_1_0, table), "a table");
    printf("with one: %d\n", table[2]());
}

/* An export that no loader knows of. */
static void reset(void)
{
    typedef ze_result_t (*reset_all)(zel_tracer_handle_t);
    struct tracer_functions functions;
    function table[SLOTS];
    reset_all all = (reset_all)symbol("zelTracerResetAllCallbacks");
    fill(table, seven);
    done(query("zelGetTracerApiProcAddrTable", NEWEST, &functions), "the tracers' table");
    done(query("zeGetContextProcAddrTable", NEWEST, table), "a table");
    zel_tracer_handle_t tracer = enable_tracer(&functions);
    say("null", all(NULL));
    say("enabled", all(tracer));
    table[2]();
    done(functions.set_enabled(tracer, 0), "to disable");
    say("disabled", all(tracer));
    done(functions.set_enabled(tracer, 1), "to enable");
    printf("call: %d\n", table[2]());
}

static void tracer_table_versions(void)
{
    static const uint32_t asked[] = {ZE_MAKE_VERSION(1, 0), NEWEST, ZE_MAKE_VERSION(9, 9)};
    struct tracer_functions functions;
    for (size_t i = 0; i < LENGTH(asked); i++)
        say("tracers", query("zelGetTracerApiProcAddrTable", asked[i], &functions));
}

static void closed(void)
{
    function table[SLOTS];
    fill(table, seven);
    done(query("zeGetContextProcAddrTable", NEWEST, table), "a table");
    dlclose(layer);
    printf("closed: %d\n", table[2]());
}

/* For a copy of this program with the set-uid bit. */
static void secure(void)
{
    struct tracer_functions functions;
    zel_tracer_desc_t desc = {.stype = ZEL_STRUCTURE_TYPE_TRACER_EXP_DESC};
    zel_tracer_handle_t tracer;
    done(query("zelGetTracerApiProcAddrTable", NEWEST, &functions), "the tracers' table");
    say("create", functions.create(&desc, &tracer));
    printf("%d of CommandList\n", number_wrapped("zeGetCommandListProcAddrTable", NEWEST));
}

static void own_version(void)
{
    struct {
        char name[64];
        uint32_t spec;
        int numbers[3];
    } version;
    done(((ze_result_t(*)(void *))symbol("zelLoaderGetVersion"))(&version), "a version");
    printf("%s of %u.%u\n", version.name, version.spec >> 16, version.spec & 0xffff);
}

int main(int count, char **words)
{
    static const struct test_case cases[] = {
        {"no_table", no_table},
        {"versions", versions},
        {"missing_functions", missing_functions},
        {"missing_functions_traced", missing_functions_traced},
        {"queries_again", queries_again},
        {"reset", reset},
        {"tracer_table_versions", tracer_table_versions},
        {"closed", closed},
        {"own_version", own_version},
        {"secure", secure},
    };
    must(count == 3, "the name of a case, and a layer");
    layer = dlopen(words[2], RTLD_LAZY | RTLD_LOCAL);
    must(layer != NULL, "a layer");
    return run_case(cases, LENGTH(cases), words[1]);
}

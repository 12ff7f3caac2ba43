import ctypes

from rave_openspiel import pointers


def test_asking_pybind11s_platform_gives_up_no_reference_to_the_interpreters_dictionary():
    interpreter = ctypes.pythonapi.PyInterpreterState_Get
    interpreter.restype, interpreter.argtypes = ctypes.c_void_p, []
    dictionary = ctypes.pythonapi.PyInterpreterState_GetDict
    dictionary.restype, dictionary.argtypes = ctypes.c_void_p, [ctypes.c_void_p]
    references = ctypes.c_ssize_t.from_address(dictionary(interpreter()))
    before = references.value
    assert pointers._platforms.__wrapped__()
    assert references.value == before
